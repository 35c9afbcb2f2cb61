// TFRecord files: each record is its length (u64), the length's checksum, the bytes, their checksum; little-endian, the
// checksums CRC-32C, masked. The whole file may be gzip.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "core/codec/byte_source.h"
#include "core/codec/output_file.h"

namespace gpubench {

enum class TfrecordCompression { none, gzip };
/// "none" or "gzip"; throws Error listing them.
TfrecordCompression parse_tfrecord_compression(std::string_view name);

class TfrecordReader {
 public:
  TfrecordReader(const std::filesystem::path& path, TfrecordCompression compression);

  /// The next record's bytes, valid until the next call; false at the end of the file. Throws Error naming the file,
  /// the record's number (from 1) and the byte at which it starts. The next call goes on behind a record whose bytes
  /// are damaged; where a length is, nothing says where the next record starts, so the file ends.
  bool next(std::span<const std::byte>& record);

 private:
  [[noreturn]] void damaged(std::string_view how) const;
  std::span<const std::byte> bytes(std::size_t count, std::string_view what);

  ReadAhead bytes_;
  std::size_t passing_ = 0;  ///< bytes of the record that was given out last
  std::int64_t number_ = 0;
  bool ended_ = false;
};

class TfrecordWriter {
 public:
  /// The file appears under its name when close() is called. Throws Error when it cannot be written.
  TfrecordWriter(const std::filesystem::path& path, TfrecordCompression compression);

  void write(std::span<const std::byte> record);
  /// Nothing may be written afterwards.
  void close();

 private:
  void put(std::span<const std::byte> bytes);
  void flush();

  OutputFile file_;
  std::unique_ptr<GzipWriter> gzip_;
  std::vector<std::byte> pending_;
};

}  // namespace gpubench
