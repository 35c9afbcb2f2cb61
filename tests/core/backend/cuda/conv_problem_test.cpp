// What cuDNN is asked: pure functions of the op and the types.
#include "core/backend/cuda/conv_problem.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace gpubench::cuda {
namespace {

using Dimensions = std::array<std::int64_t, 4>;

ConvolutionProblem forward(const Conv2DAttributes& options, const Shape& image, const Shape& filter) {
  return convolution_problem(Conv2D(options), ConvolutionKind::forward, options, Dtype::f32, image, filter);
}

TEST(ConvolutionProblemTest, DimensionsAreInTheOrderOfCudnn) {
  const ConvolutionProblem problem = forward({}, {2, 6, 7, 3}, {2, 3, 3, 5});
  EXPECT_EQ(problem.image, (Dimensions{2, 3, 6, 7}));
  EXPECT_EQ(problem.filter, (Dimensions{5, 3, 2, 3}));
  EXPECT_EQ(problem.result, (Dimensions{2, 5, 5, 5}));
}

TEST(ConvolutionProblemTest, ChannelsLieInnermost) {
  // [2, 6, 7, 3] row by row: a step in the batch is 126 elements, in height 21, in width 3.
  EXPECT_EQ(channels_last_strides({2, 3, 6, 7}), (Dimensions{126, 1, 21, 3}));
}

TEST(ConvolutionProblemTest, TheOddPaddingComesLast) {
  const ConvolutionProblem problem = forward({.strides = {2, 3}, .padding = Padding::same}, {2, 6, 7, 3}, {3, 2, 3, 5});
  EXPECT_EQ(problem.padding_before, (Extents{0, 0}));
  EXPECT_EQ(problem.padding_after, (Extents{1, 1}));
  EXPECT_EQ(problem.strides, (Extents{2, 3}));
  EXPECT_EQ(problem.result, (Dimensions{2, 5, 3, 3}));
}

TEST(ConvolutionProblemTest, BiasIsFusedAndReluBehindABias) {
  const Shape image{1, 4, 4, 1}, filter{3, 3, 1, 8};
  const ConvolutionProblem both = forward({.bias = true, .activation = Activation::relu}, image, filter);
  EXPECT_TRUE(both.bias && both.relu);
  EXPECT_EQ(both.activation_behind, Activation::none);

  const ConvolutionProblem relu = forward({.activation = Activation::relu}, image, filter);
  EXPECT_FALSE(relu.bias || relu.relu);
  EXPECT_EQ(relu.activation_behind, Activation::relu);

  const ConvolutionProblem gelu = forward({.bias = true, .activation = Activation::gelu}, image, filter);
  EXPECT_TRUE(gelu.bias && !gelu.relu);
  EXPECT_EQ(gelu.activation_behind, Activation::gelu);
}

TEST(ConvolutionProblemTest, WhatIsNotFusedComesBehind) {
  const ConvolutionProblem fused = forward({.bias = true, .activation = Activation::relu}, {1, 4, 4, 1}, {3, 3, 1, 8});
  const ConvolutionProblem plain = without_epilogue(fused);
  EXPECT_FALSE(plain.bias || plain.relu);
  EXPECT_EQ(plain.activation_behind, Activation::relu);
}

TEST(ConvolutionProblemTest, GradientsHaveNoEpilogue) {
  const Conv2DAttributes options{.bias = true, .activation = Activation::relu};
  const ConvolutionProblem problem = convolution_problem(Conv2D(options), ConvolutionKind::filter_gradient, options,
                                                         Dtype::f16, {1, 4, 4, 1}, {3, 3, 1, 8});
  EXPECT_FALSE(problem.bias || problem.relu);
  EXPECT_EQ(problem.activation_behind, Activation::none);
}

TEST(ConvolutionProblemTest, AFilterOfOneRowOrColumnIsNotTurned) {
  EXPECT_TRUE(forward({}, {1, 4, 4, 2}, {1, 1, 2, 8}).transposes_filter());
  EXPECT_FALSE(forward({}, {1, 4, 4, 1}, {1, 1, 1, 8}).transposes_filter());
  EXPECT_FALSE(forward({}, {1, 4, 4, 2}, {3, 3, 2, 1}).transposes_filter());
  EXPECT_EQ(forward({}, {1, 4, 4, 2}, {3, 3, 2, 8}).filter_rows(), 18);
}

TEST(ConvolutionProblemTest, GroupsFollowFromTheChannels) {
  const ConvolutionProblem problem = forward({.groups = 4}, {2, 6, 7, 8}, {3, 3, 2, 12});
  EXPECT_EQ(problem.image, (Dimensions{2, 8, 6, 7}));
  EXPECT_EQ(problem.filter, (Dimensions{12, 2, 3, 3}));
  EXPECT_EQ(problem.result, (Dimensions{2, 12, 4, 5}));
  EXPECT_TRUE(forward({.groups = 8}, {1, 4, 4, 8}, {3, 3, 1, 8}).transposes_filter());
}

TEST(ConvolutionProblemTest, EmptyTensorsAreRefused) {
  EXPECT_ERROR("cuda: conv2d: cuDNN takes no empty image or filter", forward({}, {0, 4, 4, 1}, {3, 3, 1, 8}));
}

}  // namespace
}  // namespace gpubench::cuda
