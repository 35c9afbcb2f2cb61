// Conversions between the types of elements: as C++ converts, to bool by comparing with 0, to 16 bits by rounding to
// the nearest even.
#include "core/backend/cuda/kernels/elementwise.cuh"

namespace gpubench::cuda {
namespace {

template <class From, class To>
__global__ void cast_kernel(ElementwiseAccess access, void* out, const void* in) {
  const bool truth = access.output_type == Dtype::boolean;
  for_each_element<1>(access, [&](std::int64_t i, const std::int64_t* offset) {
    const auto x = load_as<From>(in, access.input_types[0], offset[0]);
    store_as<To>(out, access.output_type, i, truth ? static_cast<To>(x != From{0}) : static_cast<To>(x));
  });
}

template <class From, class To>
cudaError_t launch_between(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* in) {
  return launch(on, blocks_for(on, access.elements, block_threads * pack_size), block_threads, &cast_kernel<From, To>,
                access, out, in);
}

}  // namespace

cudaError_t launch_cast(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in) {
  if (access.elements == 0) return cudaSuccess;
  const bool to_floating = is_floating(access.output_type);
  if (is_floating(access.input_types[0])) {
    return to_floating ? launch_between<float, float>(on, access, out, in[0])
                       : launch_between<float, std::int64_t>(on, access, out, in[0]);
  }
  return to_floating ? launch_between<std::int64_t, float>(on, access, out, in[0])
                     : launch_between<std::int64_t, std::int64_t>(on, access, out, in[0]);
}

}  // namespace gpubench::cuda
