// Bytes on their way into a gzip file.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "core/codec/output_file.h"

namespace gpubench {

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
