#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/launch.cuh"
#include "core/backend/cuda/kernels/quantize.h"
#include "core/math/functions.h"
#include "core/math/quantize.h"

namespace gpubench::cuda {

namespace {

__global__ void quantize_kernel(ElementwiseAccess access, std::int8_t* out, const float* x, const float* scale) {
  for_each_element<2>(access, [&](std::int64_t i, const std::int64_t* offset) {
    out[i] = math::Quantize{}(x[offset[0]], scale[offset[1]]);
  });
}

__global__ void window_rows_kernel(WindowRows w, std::int64_t elements, std::int8_t* to, const std::int8_t* images) {
  for (std::int64_t i = first_index(); i < elements; i += index_step()) {
    const std::int64_t row = i / w.depth, at = i % w.depth;
    const std::int64_t channel = at % w.channels, place = at / w.channels;
    const std::int64_t left = row % w.rows_wide, top = row / w.rows_wide % w.rows_high;
    const std::int64_t image = row / (w.rows_wide * w.rows_high);
    const std::int64_t y = top * w.stride_high + place / w.window_wide * w.dilation_high - w.padding_top;
    const std::int64_t x = left * w.stride_wide + place % w.window_wide * w.dilation_wide - w.padding_left;
    const bool inside = place < w.window_high * w.window_wide && y >= 0 && y < w.height && x >= 0 && x < w.width;
    to[i] = inside ? images[((image * w.height + y) * w.width + x) * w.channels + channel] : std::int8_t{0};
  }
}

__global__ void transpose_weights_kernel(std::int64_t depth, std::int64_t channels, std::int64_t padded_depth,
                                         std::int64_t elements, std::int8_t* to, const std::int8_t* weights) {
  for (std::int64_t i = first_index(); i < elements; i += index_step()) {
    const std::int64_t channel = i / padded_depth, at = i % padded_depth;
    to[i] = channel < channels && at < depth ? weights[at * channels + channel] : std::int8_t{0};
  }
}

__device__ float activated(math::Function activation, float x) {
  switch (activation) {
    case math::Function::relu:
      return math::Relu{}(x);
    case math::Function::sigmoid:
      return math::Sigmoid{}(x);
    case math::Function::tanh:
      return math::Tanh{}(x);
    case math::Function::gelu:
      return math::Gelu{}(x);
    default:
      return math::GeluTanh{}(x);
  }
}

__global__ void sum_epilogue_kernel(std::int64_t elements, std::int64_t channels, std::int64_t leading, bool activates,
                                    math::Function activation, void* to, const std::int32_t* sums, const float* scale,
                                    const float* bias, const float* next_scale) {
  for (std::int64_t i = first_index(); i < elements; i += index_step()) {
    const std::int64_t row = i / channels, channel = i % channels;
    const auto sum = static_cast<float>(sums[row * leading + channel]);
    const float linear = sum * scale[channel] + (bias == nullptr ? 0.0F : bias[channel]);
    const float y = activates ? activated(activation, linear) : linear;
    if (next_scale == nullptr) {
      static_cast<float*>(to)[i] = y;
    } else {
      static_cast<std::int8_t*>(to)[i] = math::Quantize{}(y, *next_scale);
    }
  }
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

cudaError_t launch_window_rows(const LaunchOn& on, const WindowRows& windows, void* to, const void* images) {
  const std::int64_t elements = windows.rows() * windows.depth;
  if (elements == 0) return cudaSuccess;
  return launch(on, blocks_for(on, elements), block_threads, &window_rows_kernel, windows, elements,
                static_cast<std::int8_t*>(to), static_cast<const std::int8_t*>(images));
}

cudaError_t launch_transpose_weights(const LaunchOn& on, std::int64_t depth, std::int64_t channels,
                                     std::int64_t padded_depth, std::int64_t padded_channels, void* to,
                                     const void* weights) {
  const std::int64_t elements = padded_depth * padded_channels;
  return launch(on, blocks_for(on, elements), block_threads, &transpose_weights_kernel, depth, channels, padded_depth,
                elements, static_cast<std::int8_t*>(to), static_cast<const std::int8_t*>(weights));
}

cudaError_t launch_sum_epilogue(const LaunchOn& on, const SumEpilogue& epilogue, void* to, const void* sums,
                                const void* scale, const void* bias, const void* next_scale) {
  const std::int64_t elements = epilogue.rows * epilogue.channels;
  if (elements == 0) return cudaSuccess;
  return launch(on, blocks_for(on, elements), block_threads, &sum_epilogue_kernel, elements, epilogue.channels,
                epilogue.leading, epilogue.activation.has_value(), epilogue.activation.value_or(math::Function::relu),
                to, static_cast<const std::int32_t*>(sums), static_cast<const float*>(scale),
                static_cast<const float*>(bias), static_cast<const float*>(next_scale));
}

}  // namespace gpubench::cuda
