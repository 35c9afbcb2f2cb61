// Template bodies of host_tensor.h.
#pragma once
#include <algorithm>
#include <cassert>

#include "core/tensor/host_tensor.h"

namespace gpubench {

template <class T>
HostTensor HostTensor::of(Shape shape, std::span<const T> values) {
  HostTensor tensor(TensorType{std::move(shape), dtype_of<T>});
  assert(values.size() == static_cast<std::size_t>(tensor.elements()));
  std::copy(values.begin(), values.end(), tensor.values<T>().begin());
  return tensor;
}

}  // namespace gpubench
