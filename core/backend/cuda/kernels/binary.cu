// Element-wise functions of two values, logic, and the choice between two.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/math/binary.h"
#include "core/math/unary.h"

namespace gpubench::cuda {

#define GPUBENCH_LAUNCH(name, Type, domain, flops)             \
  template <>                                                  \
  ElementwiseLaunch elementwise_launch<math::Type>() {         \
    return &launch_function<math::Type, math::Domain::domain>; \
  }
GPUBENCH_ARITHMETIC_FUNCTIONS(GPUBENCH_LAUNCH)
GPUBENCH_PREDICATES(GPUBENCH_LAUNCH)
#undef GPUBENCH_LAUNCH

namespace {

// Moves bits, whatever they mean.
template <class Bits>
__global__ void select_kernel(ElementwiseAccess access, Bits* out, const bool* condition, const Bits* a,
                              const Bits* b) {
  for_each_element<3>(access, [&](std::int64_t i, const std::int64_t* offset) {
    out[i] = condition[offset[0]] ? a[offset[1]] : b[offset[2]];
  });
}

}  // namespace

cudaError_t launch_select(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in) {
  if (access.elements == 0) return cudaSuccess;
  return with_bits(size_of(access.output_type), [&]<class Bits>() {
    return launch(on, blocks_for(on, access.elements, block_threads * pack_size), block_threads, &select_kernel<Bits>,
                  access, static_cast<Bits*>(out), static_cast<const bool*>(in[0]), static_cast<const Bits*>(in[1]),
                  static_cast<const Bits*>(in[2]));
  });
}

}  // namespace gpubench::cuda
