// Convolutions of images with few channels, such as a net's first one: too little arithmetic for tensor cores, and a
// result that is much larger than the image. With the max pool behind it in the same kernel, that result never reaches
// memory; nor does its gradient, which is zero wherever an element did not win.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/backend/cuda/kernels/pool.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

/// x [batch, height, width, channels], filter [size, channels, filters], channels last.
struct FewChannelConv {
  std::int64_t batch = 0;
  int height = 0, width = 0, channels = 0;
  int out_height = 0, out_width = 0, filters = 0;
  int size[2] = {}, strides[2] = {}, dilations[2] = {}, before[2] = {};
  Dtype dtype = Dtype::f32;

  int taps() const { return size[0] * size[1] * channels; }
};

/// Rows of the filter that a thread of the gradient can sum, and elements of a window that one of the pool can compare.
inline constexpr int most_taps = 36, most_window_elements = 4;
/// Elements of the image that a warp of the pool can hold.
inline constexpr int most_patch_elements = 256;

/// The part of an image that one result of convolution and pool depends on.
struct PooledPatch {
  std::int64_t rows, columns;

  PooledPatch(const FewChannelConv& conv, std::int64_t pool_rows, std::int64_t pool_columns)
      : rows(extent(conv, 0, pool_rows)), columns(extent(conv, 1, pool_columns)) {}
  std::int64_t elements(const FewChannelConv& conv) const { return rows * columns * conv.channels; }

 private:
  static std::int64_t extent(const FewChannelConv& conv, int axis, std::int64_t pooled) {
    return (pooled - 1) * conv.strides[axis] + (std::int64_t{conv.size[axis]} - 1) * conv.dilations[axis] + 1;
  }
};

/// Of the results, because they are counted in 32 bits.
inline constexpr std::int64_t most_positions = 0x7FFFFFFF;

/// What a convolution with a pool does to an element before it is compared.
enum class PooledActivation { none, relu, sigmoid, tanh };

/// y, winners = max_pool(activation(conv(x, filter) + bias)); `bias` may be nullptr. Elements are rounded to the type
/// before they are compared, as if they had been stored. Needs a PooledPatch of at most most_patch_elements.
cudaError_t launch_conv_max_pool(const LaunchOn& on, const FewChannelConv& conv, const PoolGeometry& pool,
                                 PooledActivation activation, void* y, std::uint8_t* winners, const void* x,
                                 const void* filter, const void* bias);

/// Bytes for the sums of the parts into which the results are divided.
std::size_t filter_sum_bytes(const FewChannelConv& conv, std::int64_t positions, int multiprocessors);
/// The filter's gradient from that of the convolution's result, in float32.
cudaError_t launch_filter_gradient(const LaunchOn& on, const FewChannelConv& conv, void* dfilter, float* sums,
                                   const void* x, const void* dy);
/// The filter's gradient from that of the pool's result, before the activation.
cudaError_t launch_pooled_filter_gradient(const LaunchOn& on, const FewChannelConv& conv, const PoolGeometry& pool,
                                          void* dfilter, float* sums, const void* x, const void* dy,
                                          const std::uint8_t* winners);

}  // namespace gpubench::cuda
