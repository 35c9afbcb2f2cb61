// Tensors in double precision for the references that kernels are held against, and their conversion to what kernels
// store. The conversions are plain on purpose: they share no code with the engine's.
#pragma once
#include <cstdint>
#include <vector>

#include "core/tensor/host_tensor.h"

namespace gpubench::support {

/// Row-major, like TensorType.
struct Array {
  TensorType type;
  std::vector<double> values;

  Array() = default;
  explicit Array(TensorType of) : type(std::move(of)), values(static_cast<std::size_t>(type.elements())) {}
  std::int64_t size() const { return static_cast<std::int64_t>(values.size()); }
  std::int64_t extent(int dimension) const { return type.shape[static_cast<std::size_t>(dimension)]; }
  double& operator[](std::int64_t i) { return values[static_cast<std::size_t>(i)]; }
  double operator[](std::int64_t i) const { return values[static_cast<std::size_t>(i)]; }
};

/// Rounds to what the dtype stores, to nearest.
HostTensor to_tensor(const Array& array);
Array to_array(const HostTensor& tensor);

/// The coordinates of element `index`, and back; coordinates of dimensions of extent 1 count as 0 (broadcasting).
Shape coordinates(std::int64_t index, const Shape& shape);
std::int64_t offset(const Shape& coordinates, const Shape& shape);
/// The element of a tensor of `from` that NumPy's broadcasting puts at element `index` of a tensor of `to`.
std::int64_t broadcast_offset(std::int64_t index, const Shape& to, const Shape& from);

}  // namespace gpubench::support
