#include "core/backend/cuda/conv_problem.h"

#include "core/backend/cuda/status.h"

namespace gpubench::cuda {

ConvolutionProblem convolution_problem(const Op& op, ConvolutionKind kind, const Conv2DAttributes& options, Dtype dtype,
                                       const Shape& image, const Shape& stored_filter) {
  const Shape filter = filter_extents(options, stored_filter);
  const auto axes = slide(op.name(), options, image, filter);
  ConvolutionProblem problem{.kind = kind,
                             .dtype = dtype,
                             .image = {image[0], image[3], image[1], image[2]},
                             .filter = {filter[3], filter[2], filter[0], filter[1]},
                             .result = {image[0], filter[3], axes[0].outputs, axes[1].outputs},
                             .strides = options.strides,
                             .dilations = options.dilations,
                             .padding_before = {axes[0].padding_before, axes[1].padding_before},
                             .padding_after = {axes[0].padding_after, axes[1].padding_after}};
  if (element_count(image) == 0 || element_count(filter) == 0) refuse(op, "cuDNN takes no empty image or filter");
  if (kind != ConvolutionKind::forward) return problem;
  problem.bias = options.bias;
  problem.relu = options.bias && options.activation == Activation::relu;
  if (!problem.relu) problem.activation_behind = options.activation;
  return problem;
}

ConvolutionProblem without_epilogue(ConvolutionProblem problem) {
  if (problem.relu) problem.activation_behind = Activation::relu;
  problem.bias = problem.relu = false;
  return problem;
}

std::array<std::int64_t, 4> channels_last_strides(const std::array<std::int64_t, 4>& dimensions) {
  const auto& [outer, channels, height, width] = dimensions;
  return {channels * height * width, 1, channels * width, channels};
}

}  // namespace gpubench::cuda
