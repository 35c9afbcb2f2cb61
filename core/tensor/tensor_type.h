// Shape and element type: everything an op knows about a tensor. Tensors are row-major; a scalar has an empty shape.
// Sizes are multiplied here and nowhere else, so that no product of a script's or a file's numbers overflows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/dtype.h"

namespace gpubench {

using Shape = std::vector<std::int64_t>;

/// The most dimensions of a tensor.
inline constexpr std::size_t max_rank = 32;
/// The most bytes of a tensor, and the most elements: what addresses of 47 bits reach. Sums of thousands of them are
/// in range of int64.
inline constexpr std::int64_t max_bytes = std::int64_t{1} << 47;

/// The product of the extents. Throws what check_size() throws for the shape alone.
std::int64_t element_count(std::span<const std::int64_t> shape);
/// extent * factor, both from 0; where it is beyond max_bytes, something else that check_size() refuses.
std::int64_t scaled_extent(std::int64_t extent, std::int64_t factor);
/// "[32, 784]"; a scalar is "[]".
std::string to_string(const Shape& shape);

struct TensorType {
  Shape shape;
  Dtype dtype = Dtype::f32;

  bool operator==(const TensorType&) const = default;
  std::int64_t elements() const { return element_count(shape); }
  /// Bytes without padding. Throws what check_size() throws.
  std::size_t bytes() const;
  int rank() const { return static_cast<int>(shape.size()); }
};
using TensorTypes = std::span<const TensorType>;

/// "float32[32, 784]".
std::string to_string(const TensorType& type);

/// Throws Error "who: ..." unless a tensor may be of this type: at most max_rank dimensions, no negative extent, at
/// most max_bytes bytes. An extent of 0 counts as 1, so that strides are in range, too.
void check_size(const TensorType& type, std::string_view who);

}  // namespace gpubench
