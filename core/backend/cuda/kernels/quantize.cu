#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/quantize.h"
#include "core/math/quantize.h"

namespace gpubench::cuda {
namespace {

__global__ void quantize_kernel(ElementwiseAccess access, std::int8_t* out, const float* x, const float* scale) {
  for_each_element<2>(access, [&](std::int64_t i, const std::int64_t* offset) {
    out[i] = math::Quantize{}(x[offset[0]], scale[offset[1]]);
  });
}

}  // namespace

cudaError_t launch_quantize(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in) {
  if (access.elements == 0) return cudaSuccess;
  return launch(on, blocks_for(on, access.elements, block_threads * pack_size), block_threads, &quantize_kernel, access,
                static_cast<std::int8_t*>(out), static_cast<const float*>(in[0]), static_cast<const float*>(in[1]));
}

cudaError_t launch_fake_quantize(const LaunchOn& on, const ElementwiseAccess& access, void* out,
                                 const void* const* in) {
  return launch_function<math::FakeQuantize, math::Domain::floats>(on, access, out, in);
}

cudaError_t launch_fake_quantize_gradient(const LaunchOn& on, const ElementwiseAccess& access, void* out,
                                          const void* const* in) {
  return launch_function<math::FakeQuantizeGradient, math::Domain::floats>(on, access, out, in);
}

}  // namespace gpubench::cuda
