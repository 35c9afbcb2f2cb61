// What an element's tensors take, without what rounding up adds.
#pragma once
#include <cstddef>
#include <span>

#include "core/data/element.h"

namespace gpubench {

/// Of an element of these types, all of whose extents are known.
inline std::size_t element_bytes(std::span<const TensorType> types) {
  std::size_t bytes = 0;
  for (const TensorType& type : types) bytes += type.bytes();
  return bytes;
}

inline std::size_t element_bytes(const Element& element) {
  std::size_t bytes = 0;
  for (const HostTensor& tensor : element) bytes += tensor.bytes();
  return bytes;
}

}  // namespace gpubench
