// A file that only grows by whole lines: when append() returns, its text is on disk; if it throws, the text is not in
// the file. A process that is killed in append() leaves whole lines, but for one that may_be_torn().
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/input_limits.h"
#include "core/codec/temporary_name.h"

namespace gpubench {

class AppendFile {
 public:
  /// Opens the file at its end and creates it if it does not exist. Throws Error with the system's reason.
  explicit AppendFile(std::filesystem::path path);

  /// Blocks until the text is on disk. Throws Error after removing the written part of `text`.
  void append(std::string_view text);
  std::int64_t size() const { return size_; }
  /// Whether a kill in append() may leave a part of this line, because it reaches into another page of the file.
  bool may_be_torn(std::string_view line) const;
  /// Locks the file until the object or the process is gone; lock_of() shows the lock to all processes.
  void lock() noexcept;
  /// Cuts the file to an earlier size().
  void truncate(std::int64_t size);

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
  std::int64_t size_;
};

enum class Lock { held, free, unknown };
/// Whether a process holds AppendFile::lock() of the file: `free` if there is no file, `unknown` if the file system has
/// no locks.
Lock lock_of(const std::filesystem::path& path) noexcept;

/// Throws Error if the file cannot be read, for a pipe or device, and for more than `most` bytes.
std::string read_file(const std::filesystem::path& path, std::size_t most = largest_text);

}  // namespace gpubench
