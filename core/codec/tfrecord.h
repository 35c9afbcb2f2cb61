// TFRecord files: each record is its length (u64), the length's checksum, its bytes, and their checksum. Numbers are
// little-endian, checksums masked CRC-32C. The whole file may be gzip.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/codec/byte_source.h"
#include "core/codec/output_file.h"

namespace gpubench {

enum class TfrecordCompression { none, gzip };
/// "none" or "gzip"; throws Error listing them.
TfrecordCompression parse_tfrecord_compression(std::string_view name);

/// Appends a record as it stands in a file that is not compressed.
void append_record(std::vector<std::byte>& to, std::span<const std::byte> record);

class TfrecordReader {
 public:
  TfrecordReader(const std::filesystem::path& path, TfrecordCompression compression);

  /// The next record's bytes, valid until the next call; false at the end of the file. Throws Error naming the file,
  /// the record's number (from 1) and its offset. After a record with damaged bytes the next call continues with the
  /// record behind it; after a damaged length the next record cannot be found, so the file ends.
  bool next(std::span<const std::byte>& record);

 private:
  [[noreturn]] void damaged(std::string_view how) const;
  std::span<const std::byte> bytes(std::size_t count, std::string_view what);

  ReadAhead bytes_;
  std::size_t passing_ = 0;  ///< size of the record returned last, which the next call skips
  std::int64_t number_ = 0;
  bool ended_ = false;
};

class TfrecordWriter {
 public:
  /// The file appears under its name when close() is called. Throws Error if it cannot be written.
  TfrecordWriter(const std::filesystem::path& path, TfrecordCompression compression);

  void write(std::span<const std::byte> record);
  /// No write() may follow.
  void close();

 private:
  void flush();

  OutputFile file_;
  std::unique_ptr<GzipWriter> gzip_;
  std::vector<std::byte> pending_;
};

}  // namespace gpubench
