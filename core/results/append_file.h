// A file that only grows by whole records: text handed to append() is on disk when it returns, or not in the file at
// all.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace gpubench {

class AppendFile {
 public:
  /// Opens at the end, making the file when it is absent. Throws Error with the system's reason.
  explicit AppendFile(std::filesystem::path path);
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  /// Blocks until the disk has it. Throws Error after taking back what was written of `text`.
  void append(std::string_view text);
  std::int64_t size() const { return size_; }
  /// Marks the file as written by this process, until the object or the process is gone: lock_of() says so to any
  /// process.
  void lock() noexcept;
  /// Cuts the file to an earlier size().
  void truncate(std::int64_t size);

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::int64_t size_;
};

/// Writes a whole file under a name of its own ("<path>.<process>-<n>.new") and renames it: readers see the old text or
/// the new one, and processes that replace the same file at once do not disturb each other. A link at `path` is
/// replaced, not followed.
void replace_file(const std::filesystem::path& path, std::string_view text);

enum class Lock { held, free, unknown };
/// Whether a process holds AppendFile::lock() of the file; free where there is no file, unknown where the file system
/// cannot tell.
Lock lock_of(const std::filesystem::path& path) noexcept;

/// Throws Error when it cannot be read, and for a pipe or device.
std::string read_file(const std::filesystem::path& path);

}  // namespace gpubench
