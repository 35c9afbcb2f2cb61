// From the size of an element to a C++ type that holds its bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>

#include "core/math/half.h"

namespace gpubench::cuda {

/// Calls launch with the unsigned integer of an element's size: for kernels that move elements without looking at them.
template <class Launch>
cudaError_t with_bits(std::size_t element_bytes, const Launch& launch) {
  switch (element_bytes) {
    case 1:
      return launch.template operator()<std::uint8_t>();
    case 2:
      return launch.template operator()<std::uint16_t>();
    case 4:
      return launch.template operator()<std::uint32_t>();
    default:
      return launch.template operator()<std::uint64_t>();
  }
}

}  // namespace gpubench::cuda
