// A file that appears under its name only when it is complete, so that an interrupted save leaves the earlier file
// unchanged. Until then the file has no name, if the file system supports that, so that even a killed program leaves
// nothing behind.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace gpubench {

class OutputFile {
 public:
  /// Throws Error if the folder is not writable.
  explicit OutputFile(std::filesystem::path path);
  /// Without commit(), removes what was written.
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
  bool named_ = false;  ///< partial_ exists as a name
};

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
