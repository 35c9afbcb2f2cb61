#include "core/tensor/tensor_type.h"

#include <fmt/ranges.h>

namespace gpubench {

std::int64_t element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string to_string(const TensorType& type) {
  return fmt::format("{}{}", to_string(type.dtype), to_string(type.shape));
}

}  // namespace gpubench
