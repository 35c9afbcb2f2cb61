#include "core/codec/tfrecord.h"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/codec/checksum.h"

namespace gpubench {
namespace {

constexpr std::size_t length_bytes = sizeof(std::uint64_t);
constexpr std::size_t checksum_bytes = sizeof(std::uint32_t);
constexpr std::size_t header_bytes = length_bytes + checksum_bytes;
constexpr std::size_t pending_most = std::size_t{64} << 10;

template <class T>
T little_at(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

std::unique_ptr<ByteSource> open_records(const std::filesystem::path& path, TfrecordCompression compression) {
  auto file = std::make_unique<FileSource>(path);
  if (compression == TfrecordCompression::none) return file;
  return std::make_unique<InflateSource>(std::move(file));
}

bool is_checksum_of(std::uint32_t stored, std::span<const std::byte> bytes) {
  return stored == masked_crc32c(crc32c(bytes));
}

bool looks_like_gzip(std::span<const std::byte> start) {
  return start[0] == std::byte{0x1f} && start[1] == std::byte{0x8b};
}

}  // namespace

TfrecordCompression parse_tfrecord_compression(std::string_view name) {
  constexpr EnumNames<TfrecordCompression, 2> names{"tfrecord: there is no compression", {"none", "gzip"}};
  return names.parse(name);
}

void append_record(std::vector<std::byte>& to, std::span<const std::byte> record) {
  const std::uint64_t length = record.size();
  const auto length_as_bytes = std::as_bytes(std::span(&length, 1));
  const std::array checksums{masked_crc32c(crc32c(length_as_bytes)), masked_crc32c(crc32c(record))};
  const auto put = [&](std::span<const std::byte> bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); };
  put(length_as_bytes);
  put(std::as_bytes(std::span(checksums).first(1)));
  put(record);
  put(std::as_bytes(std::span(checksums).last(1)));
}

TfrecordReader::TfrecordReader(const std::filesystem::path& path, TfrecordCompression compression)
    : bytes_(open_records(path, compression)) {}

void TfrecordReader::damaged(std::string_view how) const {
  throw Error(fmt::format("{}: record {} at byte {}: {}", bytes_.name(), number_, bytes_.position(), how));
}

std::span<const std::byte> TfrecordReader::bytes(std::size_t count, std::string_view what) {
  const std::span<const std::byte> found = bytes_.peek(count);
  if (found.size() < count) damaged(fmt::format("the file is cut short in its {}", what));
  return found.first(count);
}

bool TfrecordReader::next(std::span<const std::byte>& record) {
  if (ended_) return false;
  ended_ = true;  // unless the record's end is found
  bytes_.pass(std::exchange(passing_, 0));
  ++number_;
  if (bytes_.peek(header_bytes).empty()) return false;
  const std::span<const std::byte> header = bytes(header_bytes, "length");
  if (!is_checksum_of(little_at<std::uint32_t>(header.subspan(length_bytes)), header.first(length_bytes))) {
    const bool packed = number_ == 1 && looks_like_gzip(header);
    damaged(packed ? "its length does not match its checksum; the file is gzip, which compression = \"gzip\" reads"
                   : "its length does not match its checksum");
  }
  const auto length = little_at<std::uint64_t>(header);
  constexpr std::uint64_t around = header_bytes + checksum_bytes;
  if (length > SIZE_MAX - around) damaged(fmt::format("it would have {} bytes", length));
  const auto whole = static_cast<std::size_t>(length + around);
  const std::span<const std::byte> framed = bytes(whole, "data");
  ended_ = false;
  passing_ = whole;
  record = framed.subspan(header_bytes, static_cast<std::size_t>(length));
  if (!is_checksum_of(little_at<std::uint32_t>(framed.subspan(whole - checksum_bytes)), record)) {
    damaged("its data does not match its checksum");
  }
  return true;
}

TfrecordWriter::TfrecordWriter(const std::filesystem::path& path, TfrecordCompression compression) : file_(path) {
  if (compression == TfrecordCompression::gzip) gzip_ = std::make_unique<GzipWriter>(file_);
}

void TfrecordWriter::flush() {
  if (gzip_) {
    gzip_->write(pending_);
  } else {
    file_.write(pending_);
  }
  pending_.clear();
}

void TfrecordWriter::write(std::span<const std::byte> record) {
  append_record(pending_, record);
  if (pending_.size() >= pending_most) flush();
}

void TfrecordWriter::close() {
  flush();
  if (gzip_) gzip_->finish();
  file_.commit();
}

}  // namespace gpubench
