// Layers that slide filters or windows: what they give, the nodes that they add, and what they refuse.
#include <gmock/gmock.h>

#include "tests/core/nn/called.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Called;
using support::f32;
using support::infer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ConfigEntries with_filters(ConfigEntries more = {}) {
  more.emplace_back("filters", std::int64_t{8});
  more.emplace_back("kernel_size", std::int64_t{3});
  return more;
}

TEST(Conv2DOptions, GroupsDivideTheChannels) {
  const Called layer("Conv2D", with_filters({{"groups", std::int64_t{2}}}), {f32({9, 9, 6})});
  EXPECT_EQ(layer.layer->variables()[0]->type, f32({3, 3, 3, 8}));
  EXPECT_THAT(layer.ops(), ElementsAre("conv2d", "bias_add"));
  EXPECT_EQ(layer.layer->linear(), nullptr);
  EXPECT_ERROR("Conv2D: filters must be a multiple of groups, got 8 filters in 3 groups",
               infer("Conv2D", with_filters({{"groups", std::int64_t{3}}}), {f32({9, 9, 6})}));
  EXPECT_ERROR(HasSubstr("has 4 groups, which do not divide the channels of float32[9, 9, 6]"),
               infer("Conv2D", with_filters({{"groups", std::int64_t{4}}}), {f32({9, 9, 6})}));
  EXPECT_ERROR("Conv2D: groups must be at least 1, got 0",
               infer("Conv2D", with_filters({{"groups", std::int64_t{0}}}), {f32({9, 9, 6})}));
  EXPECT_ERROR("Conv2D: quantization is for layers with groups = 1, got 2",
               infer("Conv2D", with_filters({{"groups", std::int64_t{2}}, {"quantization", std::string("int8")}}),
                     {f32({9, 9, 6})}));
}

TEST(Conv2DOptions, DilationSpreadsTheWindow) {
  EXPECT_EQ(infer("Conv2D", with_filters({{"dilation_rate", std::int64_t{2}}}), {f32({9, 8, 1})}), (Shape{5, 4, 8}));
  EXPECT_ERROR(HasSubstr("a window of [3, 3] with dilation_rate [2, 4] does not fit into "
                         "float32[9, 8, 1]"),
               infer("Conv2D", with_filters({{"dilation_rate", Shape{2, 4}}}), {f32({9, 8, 1})}));
  EXPECT_ERROR("Conv2D: dilation_rate must be at most 2147483647, got [1099511627776]",
               infer("Conv2D", with_filters({{"dilation_rate", std::int64_t{1} << 40}}), {f32({9, 8, 1})}));
}

TEST(Conv1D, IsAConvolutionOfOneRow) {
  const Called layer("Conv1D", with_filters({{"strides", std::int64_t{2}}, {"padding", std::string("same")}}),
                     {f32({9, 4})});
  EXPECT_EQ(layer.shape(), (Shape{8, 5, 8}));
  EXPECT_EQ(layer.layer->variables()[0]->type, f32({3, 4, 8}));
  EXPECT_THAT(layer.ops(), ElementsAre("reshape", "reshape", "conv2d", "bias_add", "reshape"));
  EXPECT_ERROR(HasSubstr("expects [steps, channels] per example, got float32[9, 9, 4]"),
               infer("Conv1D", with_filters(), {f32({9, 9, 4})}));
  EXPECT_ERROR("Conv1D: kernel_size must be one positive integer, got [3, 3]",
               infer("Conv1D", {{"filters", std::int64_t{8}}, {"kernel_size", Shape{3, 3}}}, {f32({9, 4})}));
}

TEST(Conv1D, CausalPaddingLiesInFront) {
  const ConfigEntries causal = with_filters({{"padding", std::string("causal")}, {"dilation_rate", std::int64_t{4}}});
  const Called layer("Conv1D", causal, {f32({5, 2})});
  EXPECT_EQ(layer.shape(), (Shape{8, 5, 8}));
  EXPECT_THAT(layer.ops(), ElementsAre("reshape", "slice_gradient", "reshape", "conv2d", "bias_add", "reshape"));
  EXPECT_ERROR(HasSubstr("padding must be 'same' or 'valid', got 'causal'"),
               infer("Conv2D", with_filters({{"padding", std::string("causal")}}), {f32({5, 5, 2})}));
}

TEST(DepthwiseConv2D, HasAGroupForEachChannel) {
  const ConfigEntries options = {{"kernel_size", std::int64_t{3}}, {"depth_multiplier", std::int64_t{2}}};
  const Called layer("DepthwiseConv2D", options, {f32({9, 9, 6})});
  EXPECT_EQ(layer.shape(), (Shape{8, 7, 7, 12}));
  EXPECT_THAT(layer.variables.names, ElementsAre("depthwise_conv2d/kernel", "depthwise_conv2d/bias"));
  EXPECT_EQ(layer.layer->variables()[0]->type, f32({3, 3, 6, 2}));
  EXPECT_THAT(layer.ops(), ElementsAre("reshape", "conv2d", "bias_add"));
  const TensorType other = f32({9, 9, 5});
  EXPECT_ERROR(HasSubstr("was built for 6 channels, got float32[9, 9, 5]"), layer.layer->infer(std::span(&other, 1)));
  EXPECT_ERROR(HasSubstr("a window of [3, 3] does not fit into float32[2, 9, 6]"),
               infer("DepthwiseConv2D", options, {f32({2, 9, 6})}));
}

TEST(SeparableConv2D, MixesChannelsBehindTheDepthwiseConvolution) {
  const Called layer("SeparableConv2D", with_filters({{"use_bias", false}}), {f32({9, 9, 6})});
  EXPECT_EQ(layer.shape(), (Shape{8, 7, 7, 8}));
  EXPECT_THAT(layer.variables.names,
              ElementsAre("separable_conv2d/depthwise_kernel", "separable_conv2d/pointwise_kernel"));
  EXPECT_EQ(layer.layer->variables()[1]->type, f32({1, 1, 6, 8}));
  EXPECT_THAT(layer.ops(), ElementsAre("reshape", "conv2d", "conv2d"));
}

TEST(Conv2DTranspose, IsTheGradientOfAConvolution) {
  const Called layer("Conv2DTranspose", with_filters({{"strides", std::int64_t{2}}}), {f32({4, 5, 6})});
  EXPECT_EQ(layer.shape(), (Shape{8, 9, 11, 8}));
  EXPECT_EQ(layer.layer->variables()[0]->type, f32({3, 3, 8, 6}));
  EXPECT_THAT(layer.ops(), ElementsAre("conv2d_input_gradient", "bias_add"));
  EXPECT_EQ(infer("Conv2DTranspose", with_filters({{"strides", std::int64_t{2}}, {"padding", std::string("same")}}),
                  {f32({4, 5, 6})}),
            (Shape{8, 10, 8}));
  EXPECT_EQ(infer("Conv2DTranspose", with_filters({{"strides", std::int64_t{4}}}), {f32({4, 5, 6})}),
            (Shape{16, 20, 8}));
}

TEST(Pooling1D, SlidesOverSteps) {
  EXPECT_EQ(infer("MaxPooling1D", {}, {f32({9, 4})}), (Shape{4, 4}));
  EXPECT_EQ(infer("AveragePooling1D", {{"pool_size", std::int64_t{3}}, {"strides", std::int64_t{1}}}, {f32({9, 4})}),
            (Shape{7, 4}));
  EXPECT_THAT(Called("MaxPooling1D", {}, {f32({9, 4})}).ops(), ElementsAre("reshape", "max_pool2d", "reshape"));
  EXPECT_ERROR(HasSubstr("expects [steps, channels] per example"), infer("MaxPooling1D", {}, {f32({9, 9, 4})}));
}

TEST(GlobalPooling, TakesTheWholeExample) {
  EXPECT_THAT(Called("GlobalMaxPooling2D", {}, {f32({4, 5, 2})}).ops(), ElementsAre("reduce_max"));
  EXPECT_EQ(infer("GlobalMaxPooling2D", {}, {f32({4, 5, 2})}), (Shape{2}));
  EXPECT_EQ(infer("GlobalAveragePooling2D", {{"keepdims", true}}, {f32({4, 5, 2})}), (Shape{1, 1, 2}));
  EXPECT_EQ(infer("GlobalAveragePooling1D", {{"keepdims", true}}, {f32({5, 2})}), (Shape{1, 2}));
  EXPECT_EQ(Called("GlobalMaxPooling1D", {}, {f32({5, 2})}).shape(), (Shape{8, 2}));
}

TEST(ZeroPadding2D, TakesOneNumberTwoOrFour) {
  EXPECT_EQ(infer("ZeroPadding2D", {}, {f32({4, 5, 2})}), (Shape{6, 7, 2}));
  EXPECT_EQ(infer("ZeroPadding2D", {{"padding", Shape{1, 2}}}, {f32({4, 5, 2})}), (Shape{6, 9, 2}));
  const Called layer("ZeroPadding2D", {{"padding", Shape{1, 0, 2, 3}}}, {f32({4, 5, 2})});
  EXPECT_EQ(layer.shape(), (Shape{8, 5, 10, 2}));
  EXPECT_THAT(layer.ops(), ElementsAre("slice_gradient"));
  EXPECT_ERROR(
      "ZeroPadding2D: padding must be one integer, {height, width} or {{top, bottom}, "
      "{left, right}}, each 0 to 2147483647, got [1, 2, 3]",
      infer("ZeroPadding2D", {{"padding", Shape{1, 2, 3}}}, {f32({4, 5, 2})}));
  EXPECT_ERROR(HasSubstr("each 0 to 2147483647, got [-1]"),
               infer("ZeroPadding2D", {{"padding", std::int64_t{-1}}}, {f32({4, 5, 2})}));
}

TEST(UpSampling2D, RepeatsRowsAndColumns) {
  EXPECT_EQ(Called("UpSampling2D", {{"size", Shape{2, 3}}}, {f32({4, 5, 2})}).shape(), (Shape{8, 8, 15, 2}));
  EXPECT_ERROR(HasSubstr("interpolation must be 'nearest' or 'bilinear', got 'bicubic'"),
               infer("UpSampling2D", {{"interpolation", std::string("bicubic")}}, {f32({4, 5, 2})}));
  const ConfigEntries bilinear{{"size", Shape{2, 3}}, {"interpolation", std::string("bilinear")}};
  for (const Shape& image : {Shape{4, 5, 2}, Shape{1, 5, 2}, Shape{4, 1, 2}}) {
    EXPECT_EQ(Called("UpSampling2D", bilinear, {f32(image)}).shape(), (Shape{8, 2 * image[0], 3 * image[1], 2}));
  }
}

}  // namespace
}  // namespace gpubench
