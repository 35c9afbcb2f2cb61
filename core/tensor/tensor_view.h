// Typed, non-owning memory on one device: the arguments of kernels.
#pragma once
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/tensor/tensor_type.h"

namespace gpubench {

/// What elements at the same place of several tensors become.
enum class Reduction : std::uint8_t { sum, max };

struct TensorView {
  const TensorType* type = nullptr;
  std::byte* data = nullptr;

  template <class T>
  T* as() const {
    assert(dtype_of<T> == type->dtype);
    return reinterpret_cast<T*>(data);
  }
  std::int64_t elements() const { return type->elements(); }
};

}  // namespace gpubench
