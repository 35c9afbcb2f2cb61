// A folder that takes its place as a whole: it is made beside it, and exchanged with the earlier one in one step.
// Several programs may make the same folder at once: each time, readers see one of them, and the last one stays.
//
// Some file systems (NFS) cannot exchange. There the earlier folder is renamed first, to ".NAME.N.old", and is put back
// by settle_folder() if the program was killed before its second step.
#pragma once
#include <filesystem>
#include <functional>

#include "core/codec/temporary_name.h"

namespace gpubench {

class OutputFolder {
 public:
  /// Makes an empty folder beside `path`. Throws Error if that is not possible, and if a link or a file is at `path`.
  explicit OutputFolder(std::filesystem::path path);
  /// Without commit(), removes what was made.
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Where its files are written.
  const std::filesystem::path& place() const { return temporary_; }
  void commit();

 private:
  bool take_place();
  bool take_place_in_two_steps();

  std::filesystem::path path_, temporary_;
  Descriptor descriptor_;  ///< has the lock
};

/// Puts back what a killed program has left of the folder, and removes what it has left beside it.
void settle_folder(const std::filesystem::path& path);

/// Calls `read`, which reads files of the folder, again where the folder was made or replaced meanwhile. Throws Error
/// if it was each time.
void read_whole_folder(const std::filesystem::path& path, const std::function<void()>& read);

/// Removes a folder with all that is in it; for readers, in one step. False if it is not there (any more). Throws
/// Error.
bool remove_folder(const std::filesystem::path& path);

}  // namespace gpubench
