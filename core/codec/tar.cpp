#include "core/codec/tar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/error.h"
#include "core/base/input_limits.h"
#include "core/base/shown_text.h"
#include "core/codec/byte_source.h"
#include "core/codec/output_file.h"

namespace gpubench {
namespace {

constexpr std::size_t block = 512;
/// Longer names stand in an entry of their own in front of the file's.
constexpr std::size_t longest_name = 100;
constexpr char regular = '0', old_regular = '\0', extended = 'x', long_name = 'L';

using Header = std::array<char, block>;

struct HeaderField {
  std::size_t offset, size;
};
constexpr HeaderField name_field{0, 100}, mode_field{100, 8}, owner_field{108, 8}, group_field{116, 8},
    size_field{124, 12}, time_field{136, 12}, sum_field{148, 8}, magic_field{257, 6}, version_field{263, 2},
    prefix_field{345, 155};
constexpr std::size_t type_offset = 156;

void put(Header& header, HeaderField field, std::string_view text) {
  std::memcpy(header.data() + field.offset, text.data(), std::min(text.size(), field.size));
}

void put_number(Header& header, HeaderField field, std::uint64_t number) {
  put(header, field, fmt::format("{:0{}o}", number, field.size - 1));
}

/// As if the sum's own field were blank.
std::uint64_t sum_of(const Header& header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block; ++i) {
    const bool own = i >= sum_field.offset && i < sum_field.offset + sum_field.size;
    sum += own ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

std::string_view text_in(const Header& header, HeaderField field) {
  const std::string_view whole(header.data() + field.offset, field.size);
  return whole.substr(0, whole.find('\0'));
}

std::optional<std::uint64_t> number_in(const Header& header, HeaderField field) {
  std::string_view text = text_in(header, field);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number, 8);
  const bool ends = stop == text.data() + text.size() || *stop == ' ';
  return error == std::errc() && ends ? std::optional(number) : std::nullopt;
}

std::size_t padding_of(std::uint64_t size) {
  return static_cast<std::size_t>((block - size % block) % block);
}

class Writer {
 public:
  explicit Writer(GzipWriter& out) : out_(out) {}

  void add(const ArchiveEntry& entry) {
    if (entry.name.size() > longest_name) add_long_name(entry.name);
    add(regular, entry.name, entry.bytes);
  }
  void finish() {
    for (int i = 0; i < 2; ++i) write(Header{});
  }

 private:
  /// "30 path=folder/file\n", where the number counts the whole line.
  void add_long_name(const std::string& name) {
    const std::size_t rest = std::string_view(" path=\n").size() + name.size();
    std::size_t size = rest + 1;
    while (std::to_string(size).size() + rest != size) ++size;
    add(extended, "name", fmt::format("{} path={}\n", size, name));
  }

  void add(char type, std::string_view name, std::string_view bytes) {
    Header header{};
    put(header, name_field, name);
    put_number(header, mode_field, 0644);
    for (const HeaderField field : {owner_field, group_field, time_field}) put_number(header, field, 0);
    put_number(header, size_field, bytes.size());
    header[type_offset] = type;
    put(header, magic_field, std::string_view("ustar\0", 6));
    put(header, version_field, "00");
    put(header, sum_field, fmt::format("{:06o}", sum_of(header)) + std::string("\0 ", 2));
    write(header);
    write(bytes);
    const Header zeros{};
    write(std::string_view(zeros.data(), padding_of(bytes.size())));
  }

  void write(std::string_view bytes) { out_.write(std::as_bytes(std::span(bytes))); }
  void write(const Header& header) { write(std::string_view(header.data(), header.size())); }

  GzipWriter& out_;
};

class Reader {
 public:
  Reader(ByteSource& source, const EntryFilter& is_wanted) : source_(source), is_wanted_(is_wanted) {}

  std::vector<ArchiveEntry> read() {
    std::vector<ArchiveEntry> entries;
    std::string name;  // of the next entry, where one stands in front of it
    std::size_t count = 0;
    for (Header header; next(header);) {
      if (++count > most_archive_entries) fail(fmt::format("has more than {} entries", most_archive_entries));
      const char type = header[type_offset];
      if (type == extended || type == long_name) {
        const std::string bytes = contents(header, longest_long_name);
        name = type == extended ? path_in(bytes) : bytes.substr(0, bytes.find('\0'));
        continue;
      }
      if (name.empty()) name = name_of(header);
      const bool is_file = type == regular || type == old_regular;
      if (is_file && (!is_wanted_ || is_wanted_(name)))
        entries.push_back({std::move(name), contents(header, largest_text)});
      else
        skip(size_in(header));
      name.clear();
    }
    // The checksum stands at the end of the compressed bytes.
    while (pass(piece_) > 0) continue;
    return entries;
  }

 private:
  /// A path, or a few lines of facts.
  static constexpr std::size_t longest_long_name = std::size_t{64} << 10;

  bool next(Header& header) {
    fill(std::as_writable_bytes(std::span(header)), "a header");
    if (std::ranges::all_of(header, [](char c) { return c == '\0'; })) return false;
    if (number_in(header, sum_field) != sum_of(header)) fail("is no tar archive, or damaged");
    return true;
  }

  std::uint64_t size_in(const Header& header) const {
    const std::optional<std::uint64_t> size = number_in(header, size_field);
    if (!size || *size > source_.left_at_most()) fail(fmt::format("has a damaged entry {}", shown_name(header)));
    return *size;
  }

  std::string contents(const Header& header, std::size_t most) {
    const std::uint64_t size = size_in(header);
    if (size > most)
      fail(fmt::format("its entry {} has {} bytes; at most {} are read", shown_name(header), size, most));
    kept_ += size;
    if (kept_ > largest_texts) fail(fmt::format("its entries have more than {} bytes to be read", largest_texts));
    std::string bytes(static_cast<std::size_t>(size), '\0');
    fill(std::as_writable_bytes(std::span(bytes)), "an entry");
    skip_padding(size);
    return bytes;
  }

  void skip(std::uint64_t size) {
    for (std::uint64_t left = size; left > 0;) {
      const std::span<std::byte> part = std::span(piece_).first(std::min<std::uint64_t>(left, piece_.size()));
      fill(part, "an entry");
      left -= part.size();
    }
    skip_padding(size);
  }

  void skip_padding(std::uint64_t size) { fill(std::span(piece_).first(padding_of(size)), "an entry"); }

  void fill(std::span<std::byte> to, std::string_view what) {
    count(to.size());
    source_.read(to, what);
  }

  /// Bytes that were passed; 0 at the end.
  std::size_t pass(std::span<std::byte> to) {
    const std::size_t passed = source_.read_some(to);
    count(passed);
    return passed;
  }

  void count(std::uint64_t bytes) {
    unpacked_ += bytes;
    if (unpacked_ > largest_archive) fail(fmt::format("unpacks to more than {} bytes", largest_archive));
  }

  static std::string shown_name(const Header& header) { return "'" + shown_text(name_of(header)) + "'"; }

  static std::string name_of(const Header& header) {
    const std::string prefix(text_in(header, prefix_field));
    const bool has_prefix = text_in(header, magic_field) == "ustar" && !prefix.empty();
    return (has_prefix ? prefix + "/" : "") + std::string(text_in(header, name_field));
  }

  /// Of lines as add_long_name() writes them.
  static std::string path_in(std::string_view lines) {
    constexpr std::string_view key = " path=";
    const std::size_t at = lines.find(key);
    if (at == std::string_view::npos) return {};
    const std::size_t begin = at + key.size();
    return std::string(lines.substr(begin, lines.find('\n', begin) - begin));
  }

  [[noreturn]] void fail(const std::string& how) const { throw Error(fmt::format("{}: {}", source_.name(), how)); }

  ByteSource& source_;
  const EntryFilter& is_wanted_;
  std::uint64_t unpacked_ = 0, kept_ = 0;
  std::vector<std::byte> piece_ = std::vector<std::byte>(std::size_t{64} << 10);
};

}  // namespace

void write_archive(const std::filesystem::path& path, const std::vector<ArchiveEntry>& entries) {
  OutputFile file(path);
  GzipWriter out(file);
  Writer writer(out);
  for (const ArchiveEntry& entry : entries) writer.add(entry);
  writer.finish();
  out.finish();
  file.commit();
}

std::vector<ArchiveEntry> read_archive(const std::filesystem::path& path, const EntryFilter& is_wanted) {
  const std::unique_ptr<ByteSource> source = open_source(path);
  return Reader(*source, is_wanted).read();
}

}  // namespace gpubench
