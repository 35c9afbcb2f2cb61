#include "core/tensor/tensor_type.h"

#include <algorithm>
#include <fmt/ranges.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::int64_t no_count = -1;

// With extents of 0 counted as 1; no_count for a shape that no tensor has.
std::int64_t stride_count(std::span<const std::int64_t> shape) {
  if (shape.size() > max_rank) return no_count;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || extent > max_bytes / count) return no_count;
    count *= std::max<std::int64_t>(extent, 1);
  }
  return count;
}

[[noreturn]] void refuse(const Shape& shape, std::string_view dtype, std::string_view who) {
  const std::string given = fmt::format("{}{}", who, who.empty() ? "" : ": ");
  if (shape.size() > max_rank)
    throw Error(fmt::format("{}a tensor of rank {}; at most {} is possible", given, shape.size(), max_rank));
  if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; }))
    throw Error(fmt::format("{}{}{} has a negative extent; 0 and more are possible", given, dtype, to_string(shape)));
  throw Error(fmt::format("{}{}{} is too large for any memory; at most 2^47 bytes (128 TiB) are possible", given, dtype,
                          to_string(shape)));
}

}  // namespace

std::int64_t element_count(std::span<const std::int64_t> shape) {
  const std::int64_t count = stride_count(shape);
  if (count == no_count) refuse(Shape(shape.begin(), shape.end()), "", "");
  return std::ranges::find(shape, 0) == shape.end() ? count : 0;
}

std::int64_t scaled_extent(std::int64_t extent, std::int64_t factor) {
  return factor > 0 && extent > max_bytes / factor ? max_bytes + 1 : extent * factor;
}

std::size_t TensorType::bytes() const {
  check_size(*this, "");
  return static_cast<std::size_t>(elements()) * size_of(dtype);
}

void check_size(const TensorType& type, std::string_view who) {
  const std::size_t size = type.dtype == Dtype::bytes ? 1 : size_of(type.dtype);
  const std::int64_t count = stride_count(type.shape);
  if (count == no_count || count > max_bytes / static_cast<std::int64_t>(size))
    refuse(type.shape, to_string(type.dtype), who);
}

std::string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string to_string(const TensorType& type) {
  return fmt::format("{}{}", to_string(type.dtype), to_string(type.shape));
}

}  // namespace gpubench
