#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/strided_copy.h"

namespace gpubench::cuda {
namespace {

template <class Bits>
__global__ void strided_copy_kernel(ElementwiseAccess access, Bits* to, const Bits* from) {
  for_each_element<2>(access, [&](std::int64_t, const std::int64_t* offset) { to[offset[1]] = from[offset[0]]; });
}

}  // namespace

cudaError_t launch_strided_copy(const LaunchOn& on, const StridedWalk& walk, void* to, const void* from) {
  if (walk.access.elements == 0) return cudaSuccess;
  return with_bits(walk.element_bytes, [&]<class Bits>() {
    return launch(on, blocks_for(on, walk.access.elements, block_threads * pack_size), block_threads,
                  &strided_copy_kernel<Bits>, walk.access, static_cast<Bits*>(to) + walk.to,
                  static_cast<const Bits*>(from) + walk.from);
  });
}

}  // namespace gpubench::cuda
