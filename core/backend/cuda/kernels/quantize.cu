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

/// `bytes` of a row at a time, all of one place in the window: the channels are a multiple of them. Index: unsigned, or
/// 64 bits, whose divisions take several times as long.
template <int bytes, class Index>
__global__ void window_rows_kernel(const __grid_constant__ WindowRows w, Index packs, std::int8_t* to,
                                   const std::int8_t* images) {
  const auto packs_of_row = static_cast<Index>(w.depth / bytes),
             packs_of_place = static_cast<Index>(w.channels / bytes);
  const auto rows_wide = static_cast<Index>(w.rows_wide), rows_high = static_cast<Index>(w.rows_high);
  const auto window_wide = static_cast<Index>(w.window_wide);
  for (auto i = static_cast<Index>(first_index()); i < packs; i += static_cast<Index>(index_step())) {
    const Index row = i / packs_of_row, at = i - row * packs_of_row;
    const Index place = at / packs_of_place, line = row / rows_wide, image = line / rows_high;
    const std::int64_t window_row = place / window_wide, window_column = place % window_wide;
    const std::int64_t y = static_cast<std::int64_t>(line - image * rows_high) * w.stride_high +
                           window_row * w.dilation_high - w.padding_top;
    const std::int64_t x = static_cast<std::int64_t>(row - line * rows_wide) * w.stride_wide +
                           window_column * w.dilation_wide - w.padding_left;
    const std::int64_t channel = static_cast<std::int64_t>(at - place * packs_of_place) * bytes;
    const bool inside = window_row < w.window_high && y >= 0 && y < w.height && x >= 0 && x < w.width;
    const std::int8_t* const from =
        images + ((static_cast<std::int64_t>(image) * w.height + y) * w.width + x) * w.channels + channel;
    if constexpr (bytes == 1) {
      to[i] = inside ? *from : std::int8_t{0};
    } else {
      Bits<bytes> pack{};
      if (inside) load_bits(from, pack);
      store_bits(to + static_cast<std::int64_t>(i) * bytes, pack);
    }
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

template <class Index>
__global__ void sum_epilogue_kernel(Index elements, Index channels, std::int64_t leading, bool activates,
                                    math::Function activation, void* to, const std::int32_t* sums, const float* scale,
                                    const float* bias, const float* next_scale) {
  for (auto i = static_cast<Index>(first_index()); i < elements; i += static_cast<Index>(index_step())) {
    const Index row = i / channels, channel = i - row * channels;
    const auto sum = static_cast<float>(sums[static_cast<std::int64_t>(row) * leading + channel]);
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
  return launch_filling<&quantize_kernel>(on, access.elements, block_threads * pack_size, access,
                                          static_cast<std::int8_t*>(out), static_cast<const float*>(in[0]),
                                          static_cast<const float*>(in[1]));
}

cudaError_t launch_fake_quantize(const LaunchOn& on, const ElementwiseAccess& access, void* out,
                                 const void* const* in) {
  return launch_function<math::FakeQuantize, math::Domain::floats, true>(on, access, out, in);
}

cudaError_t launch_fake_quantize_gradient(const LaunchOn& on, const ElementwiseAccess& access, void* out,
                                          const void* const* in) {
  return launch_function<math::FakeQuantizeGradient, math::Domain::floats, true>(on, access, out, in);
}

namespace {

/// What 32 bits count, the threads' last step beyond it included.
constexpr std::int64_t most_indices = 0x7FFFFFFF;

template <int bytes, class Index>
cudaError_t launch_packed_rows(const LaunchOn& on, const WindowRows& windows, void* to, const void* images) {
  const std::int64_t packs = windows.rows() * windows.depth / bytes;
  return launch_filling<&window_rows_kernel<bytes, Index>>(on, packs, block_threads, windows, static_cast<Index>(packs),
                                                           static_cast<std::int8_t*>(to),
                                                           static_cast<const std::int8_t*>(images));
}

}  // namespace

cudaError_t launch_window_rows(const LaunchOn& on, const WindowRows& windows, void* to, const void* images) {
  const std::int64_t elements = windows.rows() * windows.depth;
  if (elements == 0) return cudaSuccess;
  if (elements > most_indices) return launch_packed_rows<1, std::int64_t>(on, windows, to, images);
  if (windows.channels % 16 == 0) return launch_packed_rows<16, unsigned>(on, windows, to, images);
  if (windows.channels % 8 == 0) return launch_packed_rows<8, unsigned>(on, windows, to, images);
  return launch_packed_rows<1, unsigned>(on, windows, to, images);
}

cudaError_t launch_transpose_weights(const LaunchOn& on, std::int64_t depth, std::int64_t channels,
                                     std::int64_t padded_depth, std::int64_t padded_channels, void* to,
                                     const void* weights) {
  const std::int64_t elements = padded_depth * padded_channels;
  return launch_filling<&transpose_weights_kernel>(on, elements, block_threads, depth, channels, padded_depth, elements,
                                                   static_cast<std::int8_t*>(to),
                                                   static_cast<const std::int8_t*>(weights));
}

cudaError_t launch_sum_epilogue(const LaunchOn& on, const SumEpilogue& epilogue, void* to, const void* sums,
                                const void* scale, const void* bias, const void* next_scale) {
  const std::int64_t elements = epilogue.rows * epilogue.channels;
  if (elements == 0) return cudaSuccess;
  const auto launch_by = [&]<class Index>(Index) {
    return launch_filling<&sum_epilogue_kernel<Index>>(
        on, elements, block_threads, static_cast<Index>(elements), static_cast<Index>(epilogue.channels),
        epilogue.leading, epilogue.activation.has_value(), epilogue.activation.value_or(math::Function::relu), to,
        static_cast<const std::int32_t*>(sums), static_cast<const float*>(scale), static_cast<const float*>(bias),
        static_cast<const float*>(next_scale));
  };
  return elements > most_indices ? launch_by(std::int64_t{}) : launch_by(0U);
}

}  // namespace gpubench::cuda
