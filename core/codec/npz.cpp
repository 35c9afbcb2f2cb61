#include "core/codec/npz.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/codec/byte_source.h"
#include "core/codec/checksum.h"
#include "core/codec/npy.h"

namespace gpubench {
namespace {

/// Reads zip archives by their central directory: stored and deflated entries, zip64 sizes, checksums verified. Enough
/// for .npz; encryption and archives in several parts are refused.
class ZipArchive {
 public:
  struct Entry {
    std::string name;
    std::uint16_t flags = 0;
    std::uint16_t method = 0;
    std::uint32_t crc32 = 0;
    std::uint64_t compressed_size = 0;
    std::uint64_t size = 0;
    std::uint64_t header_offset = 0;
  };

  /// Reads the directory. Throws Error when there is none or it is damaged.
  explicit ZipArchive(std::filesystem::path path);
  const std::vector<Entry>& entries() const { return entries_; }
  /// The entry's bytes, inflated. Throws Error naming file and entry.
  std::vector<std::byte> read(const Entry& entry) const;

 private:
  std::filesystem::path path_;
  std::uint64_t file_size_ = 0;
  std::vector<Entry> entries_;
};

constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::uint32_t directory_signature = 0x02014b50;
constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t end64_signature = 0x06064b50;
constexpr std::uint32_t locator64_signature = 0x07064b50;
constexpr std::uint64_t end_size = 22;
constexpr std::uint64_t locator64_size = 20;
constexpr std::uint64_t longest_comment = 0xffff;
constexpr std::uint32_t in_zip64 = 0xffffffff;
constexpr std::uint16_t zip64_extra = 1;

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};

[[noreturn]] void damaged_archive(const std::string& name, std::string_view what) {
  throw Error(fmt::format("{}: the zip archive is damaged: {}", name, what));
}

std::vector<std::byte> read_range(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t size,
                                  std::string_view what) {
  FileSource file(path, offset, size);
  if (file.left_at_most() < size) damaged_archive(file.name(), fmt::format("{} is cut short", what));
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file.read(bytes, what);
  return bytes;
}

/// The offset of the end record, searched for backwards because a comment of any text may follow it.
std::uint64_t find_end(const std::filesystem::path& path, std::uint64_t file_size) {
  const std::uint64_t span = std::min(file_size, end_size + longest_comment);
  const std::vector<std::byte> tail = read_range(path, file_size - span, span, "the end");
  for (std::uint64_t back = end_size; back <= span; ++back) {
    const auto start = static_cast<std::size_t>(span - back);
    ByteSpanSource record(path.string(), std::span(tail).subspan(start));
    if (record.read_u32_little("the end") == end_signature) return file_size - back;
  }
  throw Error(fmt::format("{}: no zip archive: it has no end record", path.string()));
}

Directory read_end64(const std::filesystem::path& path, std::uint64_t end_offset) {
  if (end_offset < locator64_size) damaged_archive(path.string(), "no zip64 locator");
  FileSource locator(path, end_offset - locator64_size, locator64_size);
  if (locator.read_u32_little("the zip64 locator") != locator64_signature)
    damaged_archive(path.string(), "no zip64 locator");
  locator.read_u32_little("the zip64 locator");
  FileSource end(path, locator.read_u64_little("the zip64 locator"));
  if (end.read_u32_little("the zip64 end") != end64_signature) damaged_archive(path.string(), "no zip64 end record");
  end.read_u64_little("the zip64 end");  // size of this record
  end.read_u32_little("the zip64 end");  // versions
  end.read_u64_little("the zip64 end");  // part numbers
  end.read_u64_little("the zip64 end");  // entries in this part
  Directory directory;
  directory.entries = end.read_u64_little("the zip64 end");
  directory.size = end.read_u64_little("the zip64 end");
  directory.offset = end.read_u64_little("the zip64 end");
  return directory;
}

Directory read_end(const std::filesystem::path& path, std::uint64_t file_size) {
  const std::uint64_t end_offset = find_end(path, file_size);
  FileSource end(path, end_offset);
  end.read_u32_little("the end");  // signature
  end.read_u32_little("the end");  // part numbers
  end.read_u16_little("the end");  // entries in this part
  Directory directory;
  directory.entries = end.read_u16_little("the end");
  directory.size = end.read_u32_little("the end");
  directory.offset = end.read_u32_little("the end");
  const bool has_zip64 = directory.entries == 0xffff || directory.size == in_zip64 || directory.offset == in_zip64;
  if (has_zip64) directory = read_end64(path, end_offset);
  if (directory.offset > end_offset || directory.size > end_offset - directory.offset) {
    damaged_archive(path.string(), "the directory lies outside the file");
  }
  return directory;
}

/// Sizes that do not fit 32 bits stand in an extra field, in the order of the fields that they replace.
void read_zip64_sizes(ZipArchive::Entry& entry, std::span<const std::byte> extra, const std::string& name) {
  ByteSpanSource fields(name, extra);
  while (fields.left_at_most() >= 4) {
    const std::uint16_t id = fields.read_u16_little("an extra field");
    const std::uint16_t length = fields.read_u16_little("an extra field");
    if (length > fields.left_at_most()) damaged_archive(name, "an extra field is cut short");
    std::vector<std::byte> value(length);
    fields.read(value, "an extra field");
    if (id != zip64_extra) continue;
    ByteSpanSource sizes(name, value);
    for (std::uint64_t* field : {&entry.size, &entry.compressed_size, &entry.header_offset}) {
      if (*field == in_zip64) *field = sizes.read_u64_little("a zip64 size");
    }
  }
}

ZipArchive::Entry read_entry(ByteSource& directory) {
  constexpr std::string_view what = "the directory";
  if (directory.read_u32_little(what) != directory_signature)
    damaged_archive(directory.name(), "a directory entry has no magic");
  ZipArchive::Entry entry;
  directory.read_u32_little(what);  // versions
  entry.flags = directory.read_u16_little(what);
  entry.method = directory.read_u16_little(what);
  directory.read_u32_little(what);  // time and date
  entry.crc32 = directory.read_u32_little(what);
  entry.compressed_size = directory.read_u32_little(what);
  entry.size = directory.read_u32_little(what);
  const std::uint16_t name_length = directory.read_u16_little(what);
  const std::uint16_t extra_length = directory.read_u16_little(what);
  const std::uint16_t comment_length = directory.read_u16_little(what);
  directory.read_u64_little(what);  // part number, attributes
  entry.header_offset = directory.read_u32_little(what);
  entry.name.resize(name_length);
  directory.read(std::as_writable_bytes(std::span(entry.name)), what);
  std::vector<std::byte> extra(extra_length);
  directory.read(extra, what);
  std::vector<std::byte> comment(comment_length);
  directory.read(comment, what);
  read_zip64_sizes(entry, extra, directory.name());
  return entry;
}

/// The entry's first byte: after its local header, whose name and extra field may differ from the directory's.
std::uint64_t data_offset(const std::filesystem::path& path, const ZipArchive::Entry& entry, const std::string& name) {
  constexpr std::uint64_t fixed_size = 30;
  constexpr std::size_t before_lengths = 22;
  FileSource header(path, entry.header_offset, fixed_size);
  if (header.left_at_most() < fixed_size) damaged_archive(name, "its header lies outside the file");
  if (header.read_u32_little("a local header") != local_signature) damaged_archive(name, "its header has no magic");
  std::array<std::byte, before_lengths> skipped;
  header.read(skipped, "a local header");
  const std::uint64_t name_length = header.read_u16_little("a local header");
  const std::uint64_t extra_length = header.read_u16_little("a local header");
  return entry.header_offset + fixed_size + name_length + extra_length;
}

ZipArchive::ZipArchive(std::filesystem::path path) : path_(std::move(path)) {
  file_size_ = FileSource(path_).left_at_most();
  const Directory directory = read_end(path_, file_size_);
  const std::vector<std::byte> bytes = read_range(path_, directory.offset, directory.size, "the directory");
  ByteSpanSource source(path_.string(), bytes);
  for (std::uint64_t i = 0; i < directory.entries; ++i) entries_.push_back(read_entry(source));
}

std::vector<std::byte> ZipArchive::read(const Entry& entry) const {
  constexpr std::uint16_t stored = 0;
  constexpr std::uint16_t deflated = 8;
  constexpr std::uint16_t encrypted = 1;
  const std::string name = fmt::format("{}({})", path_.string(), entry.name);
  if ((entry.flags & encrypted) != 0) throw Error(fmt::format("{}: is encrypted", name));
  if (entry.method != stored && entry.method != deflated) {
    throw Error(fmt::format("{}: zip method {} is not supported (known: 0 stored, 8 deflated)", name, entry.method));
  }
  std::unique_ptr<ByteSource> source =
      std::make_unique<FileSource>(path_, data_offset(path_, entry, name), entry.compressed_size);
  if (source->left_at_most() < entry.compressed_size) damaged_archive(name, "it is cut short");
  if (entry.method == deflated) source = std::make_unique<InflateSource>(std::move(source), Compression::deflate);
  if (entry.size > source->left_at_most()) damaged_archive(name, "its sizes contradict each other");

  std::vector<std::byte> bytes(static_cast<std::size_t>(entry.size));
  source->read(bytes, entry.name);
  source->expect_end(entry.name);
  if (crc32_of(bytes) != entry.crc32) damaged_archive(name, "its checksum is wrong");
  return bytes;
}

}  // namespace

std::vector<NamedTensor> read_npz(const std::filesystem::path& path) {
  constexpr std::string_view extension = ".npy";
  const ZipArchive archive(path);
  std::vector<NamedTensor> arrays;
  for (const ZipArchive::Entry& entry : archive.entries()) {
    if (!entry.name.ends_with(extension)) {
      throw Error(fmt::format("{}: entry '{}' is no .npy array", path.string(), entry.name));
    }
    const std::vector<std::byte> bytes = archive.read(entry);
    ByteSpanSource source(fmt::format("{}({})", path.string(), entry.name), bytes);
    arrays.push_back({entry.name.substr(0, entry.name.size() - extension.size()), decode_npy(source)});
  }
  if (arrays.empty()) throw Error(fmt::format("{}: holds no arrays", path.string()));
  return arrays;
}

}  // namespace gpubench
