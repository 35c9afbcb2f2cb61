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

HostTensor read_tensor(ByteSource& source, TensorType type, bool swap) {
  check_size(type, source.name());
  const std::uint64_t bytes = type.bytes();
  if (bytes > source.left_at_most()) {
    throw Error(fmt::format("{}: the file is cut short: {} needs {} bytes, the file has {} at most after byte {}",
                            source.name(), to_string(type), bytes, source.left_at_most(), source.position()));
  }
  if (bytes > source.most_at_once()) {
    throw Error(
        fmt::format("{}: {} of {} bytes is unpacked from a file that is far smaller; at most {} bytes are, or a "
                    "hundred times the file's",
                    source.name(), to_string(type), bytes, source.most_at_once()));
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
