#include "core/codec/npy.h"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/codec/tensor_bytes.h"

namespace gpubench {
namespace {

/// The Python dictionary at the start of a .npy file, read strictly: three keys, each once, nothing else.
class NpyHeaderParser {
 public:
  NpyHeaderParser(std::string_view text, std::string_view name) : text_(text), rest_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        header.descr = string();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = tuple();
        has_shape = true;
      } else {
        fail(fmt::format("key '{}'", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) fail("text after the dictionary");
    if (!has_descr || !has_order || !has_shape) fail("a missing key; descr, fortran_order and shape are needed");
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view found) const {
    throw Error(fmt::format("{}: the npy header is damaged: {} at character {}", name_, found,
                            text_.size() - rest_.size() + 1));
  }

  void skip_space() {
    const std::size_t start = rest_.find_first_not_of(" \n\t");
    rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
  }

  bool accept(char c) {
    skip_space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("no '{}'", c));
  }

  std::string string() {
    skip_space();
    if (!rest_.starts_with('\'') && !rest_.starts_with('"')) fail("no string (structured types are not supported)");
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) fail("a string without end");
    std::string value(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    }
    fail("neither True nor False");
  }

  std::int64_t number() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || value < 0) fail("no extent");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    accept('L');  // Python 2 wrote long integers so
    return value;
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::string_view text_;
  std::string_view rest_;
  std::string_view name_;
};

constexpr std::string_view magic = "\x93NUMPY";
/// NumPy's own limit is 10 000 characters by default; structured types aside, 200 are plenty.
constexpr std::uint32_t longest_npy_header = 1U << 16;

struct NpyTypeName {
  std::string_view code;
  Dtype dtype;
};
constexpr std::array npy_type_names{NpyTypeName{"f4", Dtype::f32}, NpyTypeName{"f2", Dtype::f16},
                                    NpyTypeName{"i8", Dtype::i64}, NpyTypeName{"i4", Dtype::i32},
                                    NpyTypeName{"i2", Dtype::i16}, NpyTypeName{"i1", Dtype::i8},
                                    NpyTypeName{"u1", Dtype::u8},  NpyTypeName{"b1", Dtype::boolean}};

Dtype dtype_of_descr(std::string_view descr, std::string_view name) {
  const bool has_order = !descr.empty() && std::string_view("<>|=").find(descr.front()) != std::string_view::npos;
  for (const NpyTypeName& type : npy_type_names) {
    if (has_order && descr.substr(1) == type.code) return type.dtype;
  }
  throw Error(
      fmt::format("{}: npy type '{}' is not supported; save the array with .astype() as float32, float16, int64, "
                  "int32, int16, int8, uint8 or bool",
                  name, descr));
}

std::string npy_header_text(ByteSource& source) {
  std::array<char, magic.size()> start{};
  source.read(std::as_writable_bytes(std::span(start)), "the npy magic");
  if (std::string_view(start.data(), start.size()) != magic) {
    throw Error(fmt::format("{}: no npy file: it does not start with \\x93NUMPY", source.name()));
  }
  const std::uint8_t major = source.read_u8("the npy version");
  source.read_u8("the npy version");
  if (major < 1 || major > 3) {
    throw Error(fmt::format("{}: npy version {} is not supported (known: 1, 2, 3)", source.name(), major));
  }
  const std::uint32_t length = major == 1 ? source.read_u16_little("the npy header's length")
                                          : source.read_u32_little("the npy header's length");
  if (length > longest_npy_header) {
    throw Error(
        fmt::format("{}: an npy header of {} bytes; at most {} are read", source.name(), length, longest_npy_header));
  }
  std::string text(length, '\0');
  source.read(std::as_writable_bytes(std::span(text)), "the npy header");
  return text;
}

}  // namespace

NpyHeader read_npy_header(ByteSource& source) {
  const std::string text = npy_header_text(source);
  return NpyHeaderParser(text, source.name()).parse();
}

HostTensor decode_npy(ByteSource& source) {
  NpyHeader header = read_npy_header(source);
  const Dtype dtype = dtype_of_descr(header.descr, source.name());
  if (header.fortran_order && header.shape.size() > 1) {
    throw Error(fmt::format("{}: the array is in Fortran order; save numpy.ascontiguousarray() of it", source.name()));
  }
  HostTensor tensor = read_tensor(source, {std::move(header.shape), dtype}, header.descr.front() == '>');
  source.expect_end(to_string(tensor.type()));
  return tensor;
}

HostTensor read_npy(const std::filesystem::path& path) {
  return decode_npy(*open_source(path));
}

void write_npy(const std::filesystem::path& path, const HostTensor& tensor) {
  std::string_view code;
  for (const NpyTypeName& type : npy_type_names) {
    if (type.dtype == tensor.dtype()) code = type.code;
  }
  if (code.empty()) {
    throw Error(fmt::format("{}: npy files have no {}; cast it first", path.string(), to_string(tensor.dtype())));
  }
  const char order = size_of(tensor.dtype()) == 1 ? '|' : '<';
  const char* const comma = tensor.type().rank() == 1 ? "," : "";
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", order, code,
                                   fmt::join(tensor.shape(), ", "), comma);
  constexpr std::size_t alignment = 64;
  const std::size_t prefix = magic.size() + 2 + sizeof(std::uint16_t);
  header.append(alignment - 1 - (prefix + header.size()) % alignment, ' ');
  header += '\n';

  const auto length = static_cast<std::uint16_t>(header.size());
  constexpr std::array version{'\x01', '\x00'};
  OutputFile file(path);
  file.write(std::as_bytes(std::span(magic)));
  file.write(std::as_bytes(std::span(version)));
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(header)));
  file.write({tensor.data(), tensor.bytes()});
  file.commit();
}

}  // namespace gpubench
