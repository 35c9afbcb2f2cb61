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
  explicit Reader(ByteSource& source) : source_(source) {}

  std::vector<ArchiveEntry> read() {
    std::vector<ArchiveEntry> entries;
    std::string name;  // of the next entry, where one stands in front of it
    for (Header header; next(header);) {
      const char type = header[type_offset];
      std::string bytes = contents(header);
      if (type == extended) {
        name = path_in(bytes);
      } else if (type == long_name) {
        name = bytes.substr(0, bytes.find('\0'));
      } else {
        if (type == regular || type == old_regular)
          entries.push_back({name.empty() ? name_of(header) : name, std::move(bytes)});
        name.clear();
      }
    }
    // The checksum stands at the end of the compressed bytes.
    for (std::array<std::byte, block> rest; source_.read_some(rest) > 0;) continue;
    return entries;
  }

 private:
  bool next(Header& header) {
    source_.read(std::as_writable_bytes(std::span(header)), "a header");
    if (std::ranges::all_of(header, [](char c) { return c == '\0'; })) return false;
    if (number_in(header, sum_field) != sum_of(header)) fail("is no tar archive, or damaged");
    return true;
  }

  std::string contents(const Header& header) {
    const std::optional<std::uint64_t> size = number_in(header, size_field);
    if (!size || *size > source_.left_at_most() || *size > source_.most_at_once())
      fail(fmt::format("has a damaged entry '{}'", name_of(header)));
    std::string bytes(static_cast<std::size_t>(*size), '\0');
    source_.read(std::as_writable_bytes(std::span(bytes)), "an entry");
    std::array<std::byte, block> padding{};
    source_.read(std::span(padding).first(padding_of(*size)), "an entry");
    return bytes;
  }

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

std::vector<ArchiveEntry> read_archive(const std::filesystem::path& path) {
  const std::unique_ptr<ByteSource> source = open_source(path);
  return Reader(*source).read();
}

}  // namespace gpubench
