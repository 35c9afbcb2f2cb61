// Element-wise quantization by a broadcast scale, and the steps around an int8 matrix product with int32 sums. cuBLASLt
// needs the factors as rows of `depth` values, zero-padded to a multiple of 16; the epilogue converts the sums.
#pragma once
#include <optional>

#include "core/backend/cuda/kernels/elementwise.h"
#include "core/backend/cuda/kernels/launch.h"
#include "core/math/functions.h"

namespace gpubench::cuda {

/// x float32, scale float32 -> int8
cudaError_t launch_quantize(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in);
/// x, scale -> float32
cudaError_t launch_fake_quantize(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in);
/// dy, x, scale -> float32
cudaError_t launch_fake_quantize_gradient(const LaunchOn& on, const ElementwiseAccess& access, void* out,
                                          const void* const* in);

/// Windows of images [batch, height, width, channels] as rows (im2col): for each position of the window, its channels.
struct WindowRows {
  std::int64_t batch = 0, height = 1, width = 1, channels = 0;
  std::int64_t rows_high = 1, rows_wide = 1;  ///< windows of one image
  std::int64_t window_high = 1, window_wide = 1;
  std::int64_t stride_high = 1, stride_wide = 1;
  std::int64_t dilation_high = 1, dilation_wide = 1;
  std::int64_t padding_top = 0, padding_left = 0;
  std::int64_t depth = 0;  ///< length of a row, padding included

  std::int64_t rows() const { return batch * rows_high * rows_wide; }
};

/// images int8 -> int8 [rows, depth]
cudaError_t launch_window_rows(const LaunchOn& on, const WindowRows& windows, void* to, const void* images);

/// weights int8 [depth of the op, channels] -> int8 [padded_channels, padded_depth], zero-padded
cudaError_t launch_transpose_weights(const LaunchOn& on, std::int64_t depth, std::int64_t channels,
                                     std::int64_t padded_depth, std::int64_t padded_channels, void* to,
                                     const void* weights);

struct SumEpilogue {
  std::int64_t rows = 0, channels = 0;
  std::int64_t leading = 0;  ///< elements between the beginnings of two rows of sums
  /// One of the activation functions.
  std::optional<math::Function> activation = std::nullopt;
};

/// int32 sums -> activation(sum * scale + bias) as float32 [rows, channels], or as int8 if `next_scale` is given.
/// `bias` and `next_scale` may be nullptr.
cudaError_t launch_sum_epilogue(const LaunchOn& on, const SumEpilogue& epilogue, void* to, const void* sums,
                                const void* scale, const void* bias, const void* next_scale);

}  // namespace gpubench::cuda
