// What cuDNN is asked for an op of core/ops/conv.h, and what is left to kernels of our own. Pure: it knows the op and
// the types, no device. cuDNN 9.19 for an H100 was asked for its engines: a bias, alone or with relu behind it, is
// fused into every type and shape; other activations are not, or by a slow engine only; padding may differ between the
// sides.
#pragma once
#include <array>
#include <compare>
#include <cstdint>

#include "core/ops/conv.h"

namespace gpubench::cuda {

enum class ConvolutionKind : std::uint8_t { forward, input_gradient, filter_gradient };

struct ConvolutionProblem {
  ConvolutionKind kind = ConvolutionKind::forward;
  Dtype dtype = Dtype::f32;
  /// In cuDNN's order: [batch, channels, height, width], [output channels, input channels, height, width].
  std::array<std::int64_t, 4> image{}, filter{}, result{};
  Extents strides{}, dilations{}, padding_before{}, padding_after{};
  bool bias = false;
  /// Behind the bias, in the same graph.
  bool relu = false;
  /// What a kernel of our own applies to the result.
  Activation activation_behind = Activation::none;

  /// Whether [height, width, input channels, output channels] must be turned into the order of cuDNN's channels-last
  /// engines, [output channels, height, width, input channels]: not where a dimension of 1 makes them the same.
  bool transposes_filter() const { return filter[0] != 1 && filter_rows() != 1; }
  /// Height x width x input channels: the filter is a matrix of so many rows and `filter[0]` columns.
  std::int64_t filter_rows() const { return filter[1] * filter[2] * filter[3]; }

  auto operator<=>(const ConvolutionProblem&) const = default;
};

/// `image` is [batch, height, width, channels], `filter` [height, width, input channels, output channels]. Throws Error
/// where a tensor is empty, which cuDNN refuses.
ConvolutionProblem convolution_problem(const Op& op, ConvolutionKind kind, const Conv2DAttributes& options, Dtype dtype,
                                       const Shape& image, const Shape& filter);

/// The same without what it fuses, for a GPU on which cuDNN has no engine for the whole.
ConvolutionProblem without_epilogue(ConvolutionProblem problem);

/// Strides of dimensions in cuDNN's order whose channels lie innermost.
std::array<std::int64_t, 4> channels_last_strides(const std::array<std::int64_t, 4>& dimensions);

}  // namespace gpubench::cuda
