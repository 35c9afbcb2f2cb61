// Element-wise kernels: out[i] = f(in0[i], in1[i], ...), with each input of the output's shape, one value, or
// broadcast.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

inline constexpr int max_rank = 8;
inline constexpr int max_arity = 3;

/// How the inputs are indexed while the output is written front to back.
struct ElementwiseAccess {
  std::int64_t elements = 0;
  /// Dimensions after merging, at least 1. If it is 1, an input's stride is 1, or 0 for a single value.
  int rank = 1;
  std::int64_t extent[max_rank] = {1};
  std::int64_t stride[max_arity][max_rank] = {};
  Dtype input_types[max_arity] = {};
  Dtype output_type = Dtype::f32;
};

using ElementwiseLaunch = cudaError_t (*)(const LaunchOn&, const ElementwiseAccess&, void* out, const void* const* in);

/// The launch for the function object F of core/math; instantiated for every row of core/math/functions.h.
template <class F>
ElementwiseLaunch elementwise_launch();

/// condition ? a : b, for any type but bytes.
cudaError_t launch_select(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in);
/// Between any types but bytes, as the access says.
cudaError_t launch_cast(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in);

/// y[i] = x[i] + bias[i % channels], all of one floating type; y may be x.
cudaError_t launch_bias_add(const LaunchOn& on, std::int64_t elements, std::int64_t channels, Dtype type, void* y,
                            const void* x, const void* bias);

/// Casts of many tensors in few launches: one for every `cast_capacity` of them.
inline constexpr int cast_capacity = 64;

struct CastTensors {
  int count = 0;
  Dtype type = Dtype::bf16;  ///< of the results: float16 or bfloat16
  std::int64_t elements[cast_capacity] = {};
  const float* from[cast_capacity] = {};
  void* to[cast_capacity] = {};
};

cudaError_t launch_cast_all(const LaunchOn& on, const CastTensors& tensors);

}  // namespace gpubench::cuda
