#include "core/ops/conv.h"

#include <cmath>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>

#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::conv_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

/// Calls visit(image element, filter element, result element) for every product of the convolution.
template <class Visit>
void for_each_product(const Conv2DAttributes& options, const Shape& image, const Shape& filter, const Shape& result,
                      Visit visit) {
  const auto axes = slide("test", options, image, filter);
  for (std::int64_t r = 0; r < element_count(result); ++r) {
    const std::int64_t channel = r % result[3], column = r / result[3] % result[2];
    const std::int64_t row = r / result[3] / result[2] % result[1], batch = r / result[3] / result[2] / result[1];
    for (std::int64_t tap = 0; tap < filter[0] * filter[1]; ++tap) {
      const std::int64_t y = row * options.strides[0] - axes[0].padding_before + tap / filter[1] * options.dilations[0];
      const std::int64_t x =
          column * options.strides[1] - axes[1].padding_before + tap % filter[1] * options.dilations[1];
      if (y < 0 || y >= image[1] || x < 0 || x >= image[2]) continue;
      const std::int64_t first = channel / (filter[3] / options.groups) * filter[2];
      for (std::int64_t c = 0; c < filter[2]; ++c) {
        visit(((batch * image[1] + y) * image[2] + x) * image[3] + first + c,
              (tap * filter[2] + c) * filter[3] + channel, r);
      }
    }
  }
}

struct Sizes {
  Shape image, filter;
};

TensorType floats(Shape shape) {
  return {std::move(shape), Dtype::f32};
}

TensorType result_type(const Conv2DAttributes& options, const Sizes& sizes) {
  Conv2DAttributes plain = options;
  plain.bias = false;
  const std::vector<TensorType> inputs = {floats(sizes.image), floats(sizes.filter)};
  return Conv2D(plain).infer(inputs)[0];
}

OpCase forward_case(std::string name, const Sizes& sizes, Conv2DAttributes options = {}) {
  OpCase result{.name = std::move(name),
                .op = std::make_shared<const Conv2D>(options),
                .inputs = {CaseInput{.type = floats(sizes.image)}, CaseInput{.type = floats(sizes.filter)}},
                .reference = [options](std::span<const Array> in, std::span<Array> out) {
                  const std::int64_t channels = out[0].extent(3);
                  for (std::int64_t i = 0; options.bias && i < out[0].size(); ++i) out[0][i] = in[2][i % channels];
                  for_each_product(
                      options, in[0].type.shape, in[1].type.shape, out[0].type.shape,
                      [&](std::int64_t x, std::int64_t f, std::int64_t y) { out[0][y] += in[0][x] * in[1][f]; });
                  for (double& y : out[0].values) {
                    if (options.activation == Activation::relu) y = std::max(y, 0.0);
                    if (options.activation == Activation::gelu) y *= 0.5 * std::erfc(-y / std::sqrt(2.0));
                    if (options.activation == Activation::gelu_tanh) {
                      y *= 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (y + 0.044715 * y * y * y)));
                    }
                  }
                }};
  if (options.bias) result.inputs.push_back(CaseInput{.type = floats({sizes.filter[3]})});
  return result;
}

OpCase input_gradient_case(std::string name, const Sizes& sizes, Conv2DAttributes options = {}) {
  return {.name = std::move(name),
          .op = std::make_shared<const Conv2DInputGradient>(options, sizes.image),
          .inputs = {CaseInput{.type = result_type(options, sizes)}, CaseInput{.type = floats(sizes.filter)}},
          .reference = [options](std::span<const Array> in, std::span<Array> out) {
            for_each_product(options, out[0].type.shape, in[1].type.shape, in[0].type.shape,
                             [&](std::int64_t x, std::int64_t f, std::int64_t y) { out[0][x] += in[0][y] * in[1][f]; });
          }};
}

OpCase filter_gradient_case(std::string name, const Sizes& sizes, Conv2DAttributes options = {}) {
  return {.name = std::move(name),
          .op = std::make_shared<const Conv2DFilterGradient>(options, sizes.filter),
          .inputs = {CaseInput{.type = floats(sizes.image)}, CaseInput{.type = result_type(options, sizes)}},
          .reference = [options](std::span<const Array> in, std::span<Array> out) {
            for_each_product(options, in[0].type.shape, out[0].type.shape, in[1].type.shape,
                             [&](std::int64_t x, std::int64_t f, std::int64_t y) { out[0][f] += in[0][x] * in[1][y]; });
          }};
}

const Sizes grey{{2, 6, 7, 1}, {3, 3, 1, 16}}, grey_wide{{3, 9, 8, 1}, {3, 3, 1, 40}}, odd{{2, 5, 6, 3}, {2, 3, 3, 5}},
    deep{{2, 5, 5, 16}, {3, 3, 16, 16}}, pointwise{{2, 4, 4, 8}, {1, 1, 8, 4}},
    large_window{{2, 9, 9, 1}, {5, 5, 1, 8}}, grouped{{2, 5, 6, 6}, {3, 2, 3, 4}},
    depthwise{{2, 6, 5, 19}, {3, 3, 1, 19}}, depthwise_wide{{1, 7, 9, 64}, {3, 3, 1, 64}},
    multiplied{{2, 5, 4, 3}, {3, 3, 1, 6}};
/// Layers of ResNet-50 with small images: their channels decide which engines of cuDNN there are.
const Sizes first_layer{{1, 32, 32, 3}, {7, 7, 3, 64}}, fewer_channels{{2, 7, 7, 256}, {1, 1, 256, 64}},
    more_channels{{2, 7, 7, 64}, {1, 1, 64, 256}}, middle{{2, 7, 7, 64}, {3, 3, 64, 64}},
    middle_of_stage{{2, 8, 8, 128}, {3, 3, 128, 128}}, shortcut{{2, 8, 8, 256}, {1, 1, 256, 512}};
const Conv2DAttributes same{.padding = Padding::same}, strided{.strides = {2, 3}, .padding = Padding::same},
    strided_valid{.strides = {2, 1}}, halved{.strides = {2, 2}, .padding = Padding::same}, dilated{.dilations = {2, 2}};

Conv2DAttributes in_groups(std::int64_t groups, Conv2DAttributes options = {}) {
  options.groups = groups;
  return options;
}

OpCase in(Dtype dtype, OpCase op_case) {
  op_case.name += "_" + std::string(to_string(dtype));
  for (CaseInput& input : op_case.inputs) input.type.dtype = dtype;
  return op_case;
}
OpCase in_bfloat16(const OpCase& op_case) {
  return in(Dtype::bf16, op_case);
}
OpCase in_float16(const OpCase& op_case) {
  return in(Dtype::f16, op_case);
}

/// [output channels, height, width, input channels] to [height, width, input channels, output channels].
Array turned_back(const Array& filter) {
  const Shape& from = filter.type.shape;
  Array result(TensorType{{from[1], from[2], from[3], from[0]}, filter.type.dtype});
  for (std::int64_t i = 0; i < filter.size(); ++i) {
    const Shape at = support::coordinates(i, from);
    result[support::offset({at[1], at[2], at[3], at[0]}, result.type.shape)] = filter[i];
  }
  return result;
}

/// The same op of a turned filter, which a pass makes.
OpCase turned(OpCase op_case) {
  const auto turned_options = [](Conv2DAttributes options) {
    options.turned = true;
    return options;
  };
  if (const auto* const conv = dynamic_cast<const Conv2D*>(op_case.op.get())) {
    op_case.op = std::make_shared<const Conv2D>(turned_options(conv->options));
  } else {
    const auto& gradient = dynamic_cast<const Conv2DInputGradient&>(*op_case.op);
    op_case.op = std::make_shared<const Conv2DInputGradient>(turned_options(gradient.options), gradient.input_shape);
  }
  Shape& filter = op_case.inputs[1].type.shape;
  filter = {filter[3], filter[0], filter[1], filter[2]};
  op_case.reference = [plain = op_case.reference](std::span<const Array> in, std::span<Array> out) {
    std::vector<Array> inputs(in.begin(), in.end());
    inputs[1] = turned_back(in[1]);
    plain(inputs, out);
  };
  op_case.name += "_turned";
  op_case.differentiable = false;
  op_case.only_fused = true;
  return op_case;
}

std::vector<OpCase> conv_cases() {
  return {
      forward_case("grey", grey),
      forward_case("grey_wide", grey_wide),
      forward_case("grey_same", grey, same),
      forward_case("odd_channels", odd),
      forward_case("odd_same", odd, same),
      forward_case("odd_strided", odd, strided),
      forward_case("odd_strided_valid", odd, strided_valid),
      forward_case("deep", deep),
      forward_case("deep_dilated", deep, dilated),
      forward_case("pointwise", pointwise),
      in_bfloat16(forward_case("grey", grey)),
      in_bfloat16(forward_case("deep", deep)),
      in_float16(forward_case("odd_same", odd, same)),
      forward_case("large_window", large_window),
      forward_case("bias", odd, {.bias = true}),
      forward_case("bias_relu", grey, {.bias = true, .activation = Activation::relu}),
      forward_case("bias_gelu", odd, {.bias = true, .activation = Activation::gelu}),
      forward_case("bias_gelu_tanh", odd, {.bias = true, .activation = Activation::gelu_tanh}),
      forward_case("grouped", grouped, in_groups(2)),
      forward_case("grouped_bias_relu", grouped,
                   {.padding = Padding::same, .groups = 2, .bias = true, .activation = Activation::relu}),
      forward_case("depthwise", depthwise, in_groups(19)),
      forward_case("depthwise_same", depthwise, in_groups(19, same)),
      forward_case("depthwise_strided", depthwise, in_groups(19, strided)),
      forward_case("depthwise_dilated", depthwise, in_groups(19, dilated)),
      forward_case("depthwise_wide", depthwise_wide, in_groups(64, same)),
      forward_case("depthwise_wide_strided", depthwise_wide,
                   in_groups(64, {.strides = {2, 2}, .padding = Padding::same})),
      forward_case("depthwise_bias_relu", depthwise,
                   {.padding = Padding::same, .groups = 19, .bias = true, .activation = Activation::relu}),
      forward_case("depthwise_gelu", depthwise, {.groups = 19, .bias = true, .activation = Activation::gelu}),
      forward_case("multiplied", multiplied, in_groups(3, same)),
      in_bfloat16(forward_case("depthwise_wide", depthwise_wide, in_groups(64, same))),
      turned(forward_case("odd_strided", odd, strided)),
      turned(forward_case("deep_dilated", deep, dilated)),
      turned(forward_case("bias_gelu", odd, {.bias = true, .activation = Activation::gelu})),
      turned(forward_case("grouped_bias_relu", grouped,
                          {.padding = Padding::same, .groups = 2, .bias = true, .activation = Activation::relu})),
      turned(forward_case("depthwise", depthwise, in_groups(19))),
  };
}

template <OpCase (*make)(std::string, const Sizes&, Conv2DAttributes)>
std::vector<OpCase> cases_of_resnet(const std::string& prefix) {
  return {
      make(prefix + "first_layer", first_layer, halved),         make(prefix + "fewer_channels", fewer_channels, {}),
      make(prefix + "more_channels", more_channels, {}),         make(prefix + "middle", middle, same),
      make(prefix + "middle_of_stage", middle_of_stage, halved), make(prefix + "shortcut", shortcut, halved),
  };
}

std::vector<OpCase> resnet_conv_cases() {
  std::vector<OpCase> cases = cases_of_resnet<&forward_case>("");
  std::ranges::move(cases_of_resnet<&input_gradient_case>("input_gradient_of_"), std::back_inserter(cases));
  std::ranges::move(cases_of_resnet<&filter_gradient_case>("filter_gradient_of_"), std::back_inserter(cases));
  cases.push_back(forward_case("middle_bias_relu", middle,
                               {.padding = Padding::same, .bias = true, .activation = Activation::relu}));
  return cases;
}

GPUBENCH_OP_CASES(ResnetConv, resnet_conv_cases);

/// Few positions of the result for a large filter.
std::vector<OpCase> few_position_cases() {
  const Sizes few{{2, 4, 3, 64}, {3, 2, 64, 96}}, point{{2, 3, 2, 160}, {1, 1, 160, 224}};
  const Conv2DAttributes apart{.dilations = {1, 2}}, uneven{.strides = {3, 1}, .padding = Padding::same},
      fused{.padding = Padding::same, .bias = true, .activation = Activation::relu};
  struct Named {
    std::string name;
    Sizes sizes;
    Conv2DAttributes options;
  };
  const std::vector<Named> all{{"few", few, {}},          {"few_same", few, same},
                               {"few_apart", few, apart}, {"few_uneven", few, uneven},
                               {"few_point", point, {}},  {"few_halved", point, halved}};
  std::vector<OpCase> cases{forward_case("few_bias_relu", few, fused),
                            forward_case("few_bias_gelu", few, {.bias = true, .activation = Activation::gelu})};
  for (const Named& one : all) {
    cases.push_back(forward_case(one.name, one.sizes, one.options));
    cases.push_back(input_gradient_case("input_gradient_of_" + one.name, one.sizes, one.options));
    cases.push_back(filter_gradient_case("filter_gradient_of_" + one.name, one.sizes, one.options));
  }
  return cases;
}

GPUBENCH_OP_CASES(FewPositionConv, few_position_cases);

std::vector<OpCase> conv_gradient_cases() {
  return {
      input_gradient_case("input_grey", grey),
      input_gradient_case("input_same", odd, same),
      input_gradient_case("input_strided", odd, strided),
      input_gradient_case("input_deep", deep),
      input_gradient_case("input_dilated", deep, dilated),
      input_gradient_case("input_pointwise", pointwise),
      in_bfloat16(input_gradient_case("input_deep", deep)),
      in_bfloat16(filter_gradient_case("filter_deep", deep)),
      in_float16(input_gradient_case("input_same", odd, same)),
      in_float16(filter_gradient_case("filter_odd", odd)),
      filter_gradient_case("filter_grey", grey),
      filter_gradient_case("filter_grey_wide", grey_wide),
      filter_gradient_case("filter_grey_same", grey, same),
      filter_gradient_case("filter_grey_strided", grey, strided),
      filter_gradient_case("filter_grey_dilated", grey, dilated),
      filter_gradient_case("filter_large_window", large_window),
      filter_gradient_case("filter_odd_same", odd, same),
      filter_gradient_case("filter_odd_strided", odd, strided),
      filter_gradient_case("filter_odd_strided_valid", odd, strided_valid),
      filter_gradient_case("filter_deep", deep),
      filter_gradient_case("filter_pointwise", pointwise),
      input_gradient_case("input_grouped", grouped, in_groups(2)),
      input_gradient_case("input_depthwise", depthwise, in_groups(19, same)),
      input_gradient_case("input_depthwise_strided", depthwise, in_groups(19, strided)),
      input_gradient_case("input_depthwise_wide", depthwise_wide, in_groups(64, same)),
      input_gradient_case("input_multiplied", multiplied, in_groups(3, same)),
      turned(input_gradient_case("input_strided", odd, strided)),
      turned(input_gradient_case("input_grouped", grouped, in_groups(2))),
      turned(input_gradient_case("input_depthwise", depthwise, in_groups(19, same))),
      filter_gradient_case("filter_grouped", grouped, in_groups(2)),
      filter_gradient_case("filter_depthwise", depthwise, in_groups(19, same)),
      filter_gradient_case("filter_depthwise_strided", depthwise, in_groups(19, strided)),
      filter_gradient_case("filter_depthwise_wide", depthwise_wide, in_groups(64, same)),
      filter_gradient_case("filter_multiplied", multiplied, in_groups(3, same)),
  };
}

GPUBENCH_OP_CASES(Conv, conv_cases);
GPUBENCH_OP_CASES(ConvGradient, conv_gradient_cases);

TEST(ConvTest, FilterGradientsAreNeverTurned) {
  EXPECT_ERROR("conv2d_filter_gradient: it gives no turned filter",
               Conv2DFilterGradient({.turned = true}, {3, 3, 3, 8}));
}

TEST(ConvTest, RefusesWhatDoesNotFit) {
  Graph graph;
  const auto value = [&](Shape shape) { return graph.input(floats(std::move(shape)), "x"); };
  EXPECT_ERROR("conv2d: the image [1, 4, 4, 3] has 3 channels, the filter [3, 3, 1, 8] expects 1",
               ops::conv2d(graph, value({1, 4, 4, 3}), value({3, 3, 1, 8})));
  EXPECT_ERROR("conv2d: the image [1, 4, 4, 6] has 6 channels, the filter [3, 3, 2, 8] expects 4 in 2 groups",
               ops::conv2d(graph, value({1, 4, 4, 6}), value({3, 3, 2, 8}), in_groups(2)));
  EXPECT_ERROR("conv2d: 8 output channels do not divide into 3 groups",
               ops::conv2d(graph, value({1, 4, 4, 6}), value({3, 3, 2, 8}), in_groups(3)));
  EXPECT_ERROR("conv2d: groups must be at least 1, got 0",
               ops::conv2d(graph, value({1, 4, 4, 6}), value({3, 3, 2, 8}), in_groups(0)));
  EXPECT_ERROR(
      "conv2d: a window of 5 does not fit into 4 without padding; use padding "
      "\"same\" or a smaller window",
      ops::conv2d(graph, value({1, 4, 4, 1}), value({5, 5, 1, 8})));
  EXPECT_ERROR(
      "conv2d: the image [batch, height, width, channels] must have 4 "
      "dimensions, got float32[4, 4, 1]",
      ops::conv2d(graph, value({4, 4, 1}), value({3, 3, 1, 8})));
  EXPECT_ERROR("conv2d: window size, strides and dilations must be 1 to 2147483647, got 3, 0 and 1",
               ops::conv2d(graph, value({1, 4, 4, 1}), value({3, 3, 1, 8}), {.strides = {0, 1}}));
  EXPECT_ERROR("unknown padding 'full' (known: valid, same)", parse_padding("full"));
}

TEST(ConvTest, CountsPaddingAsWork) {
  const Conv2D op(same);
  const std::vector<TensorType> inputs = {floats({2, 6, 7, 3}), floats({3, 3, 3, 5})};
  EXPECT_EQ(op.flops(inputs, op.infer(inputs)), 2.0 * 2 * 6 * 7 * 3 * 3 * 3 * 5);
  const Conv2D depthwise_op(in_groups(3, same));
  const std::vector<TensorType> of_groups = {floats({2, 6, 7, 3}), floats({3, 3, 1, 6})};
  EXPECT_EQ(depthwise_op.flops(of_groups, depthwise_op.infer(of_groups)), 2.0 * 2 * 6 * 7 * 3 * 3 * 6);
}

}  // namespace
}  // namespace gpubench::conv_test
