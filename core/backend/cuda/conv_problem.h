// The part of a convolution op (core/ops/conv.h) that cuDNN computes, and the part left to our own kernels. Pure:
// depends on the op and the types, on no device. From the engines of cuDNN 9.19 on an H100: a bias, with or without
// relu, is fused for every type and shape; other activations are not, or only by a slow engine; padding may differ
// between the sides.
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
  /// In cuDNN's order: [batch, channels, height, width], [output channels, input channels of a group, height, width].
  /// cuDNN derives the number of groups from the image's channels and the filter's.
  std::array<std::int64_t, 4> image{}, filter{}, result{};
  Extents strides{}, dilations{}, padding_before{}, padding_after{};
  bool bias = false;
  /// Applied after the bias, in the same graph.
  bool relu = false;
  /// Applied to the result by our own kernel.
  Activation activation_behind = Activation::none;

  /// Whether the filter must be transposed from [height, width, input channels, output channels] to the layout of
  /// cuDNN's channels-last engines, [output channels, height, width, input channels]. Not needed where a dimension of 1
  /// makes the two layouts equal.
  bool transposes_filter() const { return filter[0] != 1 && filter_rows() != 1; }
  /// Height x width x input channels of a group: rows of the filter as a matrix with `filter[0]` columns.
  std::int64_t filter_rows() const { return filter[1] * filter[2] * filter[3]; }

  auto operator<=>(const ConvolutionProblem&) const = default;
};

/// `image` is [batch, height, width, channels], `filter` as the options say that it is stored. Throws Error if a tensor
/// is empty, because cuDNN refuses those.
ConvolutionProblem convolution_problem(const Op& op, ConvolutionKind kind, const Conv2DAttributes& options, Dtype dtype,
                                       const Shape& image, const Shape& filter);

/// The same without bias and relu, for a GPU on which cuDNN has no engine for the fused graph.
ConvolutionProblem without_epilogue(ConvolutionProblem problem);

/// Strides for channels-last memory; dimensions in cuDNN's order.
std::array<std::int64_t, 4> channels_last_strides(const std::array<std::int64_t, 4>& dimensions);

}  // namespace gpubench::cuda
