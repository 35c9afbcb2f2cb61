#include "core/codec/idx.h"

#include <array>
#include <fmt/format.h>
#include <optional>

#include "core/base/error.h"
#include "core/codec/tensor_bytes.h"

namespace gpubench {
namespace {

std::optional<Dtype> dtype_of_code(std::uint32_t code) {
  struct Row {
    std::uint32_t code;
    Dtype dtype;
  };
  static constexpr std::array rows{Row{0x08, Dtype::u8}, Row{0x09, Dtype::i8}, Row{0x0b, Dtype::i16},
                                   Row{0x0c, Dtype::i32}, Row{0x0d, Dtype::f32}};
  for (const Row& row : rows) {
    if (row.code == code) return row.dtype;
  }
  return std::nullopt;
}

bool matches(const TensorType& type, const TensorType& expected) {
  if (type.dtype != expected.dtype || type.rank() != expected.rank()) return false;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (expected.shape[i] >= 0 && expected.shape[i] != type.shape[i]) return false;
  }
  return true;
}

std::string pattern(const TensorType& type) {
  std::string text;
  for (const std::int64_t extent : type.shape) {
    text += text.empty() ? "" : ", ";
    text += extent < 0 ? "any" : std::to_string(extent);
  }
  return fmt::format("{}[{}]", to_string(type.dtype), text);
}

}  // namespace

HostTensor decode_idx(ByteSource& source) {
  const std::uint32_t magic = source.read_u32_big("an IDX header");
  const std::uint32_t code = (magic >> 8) & 0xff;
  const std::uint32_t rank = magic & 0xff;
  if (magic >> 16 != 0) {
    throw Error(
        fmt::format("{}: no IDX file: it starts with {:#010x}, an IDX file with two zero bytes, a type and a rank",
                    source.name(), magic));
  }
  const std::optional<Dtype> dtype = dtype_of_code(code);
  if (!dtype) {
    throw Error(
        fmt::format("{}: IDX element type {:#04x} is not supported (known: 0x08 uint8, 0x09 int8, 0x0b int16, "
                    "0x0c int32, 0x0d float32)",
                    source.name(), code));
  }
  TensorType type{.shape = {}, .dtype = *dtype};
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    type.shape.push_back(source.read_u32_big(fmt::format("extent {} of {}", axis + 1, rank)));
  }
  HostTensor tensor = read_tensor(source, std::move(type), true);
  source.expect_end(to_string(tensor.type()));
  return tensor;
}

HostTensor read_idx(const std::filesystem::path& path) {
  return decode_idx(*open_source(path));
}

HostTensor read_idx(const std::filesystem::path& path, const TensorType& expected) {
  HostTensor tensor = read_idx(path);
  if (!matches(tensor.type(), expected)) {
    throw Error(
        fmt::format("{}: holds {}; {} is expected", path.string(), to_string(tensor.type()), pattern(expected)));
  }
  return tensor;
}

}  // namespace gpubench
