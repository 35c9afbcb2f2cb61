#include "core/codec/tensor_bytes.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

void swap_elements(std::span<std::byte> bytes, std::size_t element_size) {
  if (element_size == 1) return;
  for (std::size_t i = 0; i < bytes.size(); i += element_size) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + element_size));
  }
}

}  // namespace

std::optional<std::uint64_t> checked_bytes(const TensorType& type) {
  // Extents are int64 everywhere, so the elements' count must be one too, also where another extent is zero.
  std::uint64_t bytes = size_of(type.dtype);
  std::uint64_t without_zeros = bytes;
  for (const std::int64_t extent : type.shape) {
    if (extent < 0) return std::nullopt;
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1));
    if (without_zeros > static_cast<std::uint64_t>(INT64_MAX) / factor) return std::nullopt;
    without_zeros *= factor;
    bytes *= static_cast<std::uint64_t>(extent);
  }
  return bytes;
}

HostTensor read_tensor(ByteSource& source, TensorType type, bool swap) {
  const std::optional<std::uint64_t> bytes = checked_bytes(type);
  if (!bytes) throw Error(fmt::format("{}: {} is too large for any memory", source.name(), to_string(type)));
  if (*bytes > source.left_at_most()) {
    throw Error(fmt::format("{}: the file is cut short: {} needs {} bytes, the file has {} at most after byte {}",
                            source.name(), to_string(type), *bytes, source.left_at_most(), source.position()));
  }
  HostTensor tensor(std::move(type));
  const std::span<std::byte> memory(tensor.data(), tensor.bytes());
  source.read(memory, to_string(tensor.type()));
  if (swap) swap_elements(memory, size_of(tensor.dtype()));
  const bool is_bad_bool =
      tensor.dtype() == Dtype::boolean &&
      std::any_of(memory.begin(), memory.end(), [](std::byte b) { return std::to_integer<int>(b) > 1; });
  if (is_bad_bool) throw Error(fmt::format("{}: a bool is neither 0 nor 1", source.name()));
  return tensor;
}

}  // namespace gpubench
