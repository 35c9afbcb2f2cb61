// Shape and element type: everything an op knows about a tensor. Tensors are row-major; a scalar has an empty shape.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/dtype.h"

namespace gpubench {

using Shape = std::vector<std::int64_t>;

std::int64_t element_count(std::span<const std::int64_t> shape);
/// "[32, 784]"; a scalar is "[]".
std::string to_string(const Shape& shape);

struct TensorType {
  Shape shape;
  Dtype dtype = Dtype::f32;

  bool operator==(const TensorType&) const = default;
  std::int64_t elements() const { return element_count(shape); }
  /// Bytes without padding.
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(dtype); }
  int rank() const { return static_cast<int>(shape.size()); }
};

/// "float32[32, 784]".
std::string to_string(const TensorType& type);

}  // namespace gpubench
