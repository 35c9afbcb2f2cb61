// A file that appears under its name only when it is complete, so an interrupted save leaves the earlier file as it
// was. Until then it has no name where the file system can do that, so that a killed program leaves nothing behind
// either.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace gpubench {

class OutputFile {
 public:
  /// Throws Error when the folder cannot be written to.
  explicit OutputFile(std::filesystem::path path);
  /// Removes what was written when there was no commit().
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws Error with the reason (no space left on device).
  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::filesystem::path partial_;
  int descriptor_ = -1;
  bool named_ = false;  ///< partial_ is there
};

/// Bytes on their way into a gzip file.
class GzipWriter {
 public:
  /// `file` must outlive the writer.
  explicit GzipWriter(OutputFile& file);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  void write(std::span<const std::byte> bytes);
  /// Writes what is held back and the checksum. Does not commit the file.
  void finish();

 private:
  struct State;
  void run(std::span<const std::byte> bytes, int flush);

  OutputFile& file_;
  std::unique_ptr<State> state_;
};

}  // namespace gpubench
