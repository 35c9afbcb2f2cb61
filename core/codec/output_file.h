// A file that appears under its name only when it is complete, so that an interrupted save leaves the earlier file
// unchanged. Until then the file has no name, if the file system supports that, so that even a killed program leaves
// nothing behind. Several programs may write the same file at once: each time, readers see one of them whole.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "core/codec/temporary_name.h"

namespace gpubench {

class OutputFile {
 public:
  /// Throws Error if the folder is not writable, and if a link, a folder or a device has the name.
  explicit OutputFile(std::filesystem::path path);
  /// Without commit(), removes what was written.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws Error with the reason (no space left on device).
  void write(std::span<const std::byte> bytes);
  /// Waits for the disk; takes the place of an earlier file.
  void commit();
  /// The same where there is none yet; otherwise returns false.
  bool commit_new();

 private:
  [[noreturn]] void fail() const;
  void sync() const;
  bool give_name(const std::filesystem::path& name) const;

  std::filesystem::path path_;
  Descriptor descriptor_;
  std::filesystem::path temporary_;  ///< its name, if it has one already
};

/// Writes a whole file.
void replace_file(const std::filesystem::path& path, std::string_view text);

/// Compresses bytes into a gzip file.
class GzipWriter {
 public:
  /// `file` must outlive the writer.
  explicit GzipWriter(OutputFile& file);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  void write(std::span<const std::byte> bytes);
  /// Writes the buffered rest and the checksum. Does not commit the file.
  void finish();

 private:
  struct State;
  void run(std::span<const std::byte> bytes, int flush);

  OutputFile& file_;
  std::unique_ptr<State> state_;
};

}  // namespace gpubench
