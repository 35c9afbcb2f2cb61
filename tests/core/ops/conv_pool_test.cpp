#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <memory>

#include "core/ops/conv.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::conv_pool_test {
namespace {

using support::Array;
using support::CaseInput;
using support::floats;
using support::OpCase;

struct Layer {
  Shape image, filter;
  Conv2DAttributes conv;
  Pool2DAttributes pool;
};

std::int64_t at(const Shape& shape, std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t c) {
  return ((n * shape[1] + y) * shape[2] + x) * shape[3] + c;
}

/// The convolution without its epilogue.
Array convolved(const Layer& layer, const Array& image, const Array& filter) {
  const auto axes = slide("test", layer.conv, layer.image, layer.filter);
  const std::int64_t rows = axes[0].outputs, columns = axes[1].outputs;
  Array result(TensorType{{layer.image[0], rows, columns, layer.filter[3]}, Dtype::f32});
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const Shape here = support::coordinates(i, result.type.shape);
    for (std::int64_t tap = 0; tap < layer.filter[0] * layer.filter[1]; ++tap) {
      const std::int64_t y =
          here[1] * layer.conv.strides[0] - axes[0].padding_before + tap / layer.filter[1] * layer.conv.dilations[0];
      const std::int64_t x =
          here[2] * layer.conv.strides[1] - axes[1].padding_before + tap % layer.filter[1] * layer.conv.dilations[1];
      if (y < 0 || y >= layer.image[1] || x < 0 || x >= layer.image[2]) continue;
      for (std::int64_t c = 0; c < layer.image[3]; ++c) {
        result[i] +=
            image[at(layer.image, here[0], y, x, c)] * filter[(tap * layer.filter[2] + c) * layer.filter[3] + here[3]];
      }
    }
  }
  return result;
}

void pooled(const Layer& layer, std::span<const Array> in, std::span<Array> out) {
  Array between = convolved(layer, in[0], in[1]);
  const Shape& shape = between.type.shape;
  for (std::int64_t i = 0; i < between.size(); ++i) {
    if (layer.conv.bias) between[i] += in[2][i % layer.filter[3]];
    if (layer.conv.activation == Activation::relu) between[i] = std::max(between[i], 0.0);
  }
  const auto axes = slide("test", layer.pool, shape);
  for (std::int64_t i = 0; i < out[0].size(); ++i) {
    const Shape here = support::coordinates(i, out[0].type.shape);
    bool first = true;
    for (std::int64_t k = 0; k < layer.pool.size[0] * layer.pool.size[1]; ++k) {
      const std::int64_t y = here[1] * layer.pool.strides[0] - axes[0].padding_before + k / layer.pool.size[1];
      const std::int64_t x = here[2] * layer.pool.strides[1] - axes[1].padding_before + k % layer.pool.size[1];
      if (y < 0 || y >= shape[1] || x < 0 || x >= shape[2]) continue;
      const double value = between[at(shape, here[0], y, x, here[3])];
      if (!first && value <= out[0][i]) continue;
      first = false;
      out[0][i] = value;
      out[1][i] = static_cast<double>(k);
    }
  }
}

OpCase forward_case(std::string name, const Layer& layer) {
  OpCase result{.name = std::move(name),
                .op = std::make_shared<const Conv2DMaxPool>(layer.conv, layer.pool),
                .inputs = {floats(layer.image), floats(layer.filter)},
                .reference = [layer](std::span<const Array> in, std::span<Array> out) { pooled(layer, in, out); }};
  if (layer.conv.bias) result.inputs.push_back(floats({layer.filter[3]}));
  result.halves = false;
  return result;
}

/// x, dy, winners -> dfilter. It is linear in dy: dfilter = d (sum of dy times what won) / d filter.
OpCase gradient_case(std::string name, const Layer& layer) {
  const std::vector<TensorType> inputs = {floats(layer.image).type, floats(layer.filter).type};
  Conv2DAttributes plain = layer.conv;
  plain.bias = false;
  const std::vector<TensorType> types = Conv2DMaxPool(plain, layer.pool).infer(inputs);
  CaseInput winners{
      .type = types[1], .low = 0, .high = static_cast<double>(layer.pool.size[0] * layer.pool.size[1] - 1)};
  return {.name = std::move(name),
          .op = std::make_shared<const Conv2DMaxPoolFilterGradient>(layer.conv, layer.pool, layer.filter),
          .inputs = {floats(layer.image), CaseInput{.type = types[0]}, winners},
          .reference =
              [layer](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t w = 0; w < out[0].size(); ++w) {
                  Array one(out[0].type);
                  one[w] = 1;
                  const Array result = convolved(layer, in[0], one);
                  const Shape& shape = result.type.shape;
                  const auto axes = slide("test", layer.pool, shape);
                  for (std::int64_t i = 0; i < in[1].size(); ++i) {
                    const Shape here = support::coordinates(i, in[1].type.shape);
                    const auto k = static_cast<std::int64_t>(in[2][i]);
                    const std::int64_t y =
                        here[1] * layer.pool.strides[0] - axes[0].padding_before + k / layer.pool.size[1];
                    const std::int64_t x =
                        here[2] * layer.pool.strides[1] - axes[1].padding_before + k % layer.pool.size[1];
                    if (y < 0 || y >= shape[1] || x < 0 || x >= shape[2]) continue;
                    out[0][w] += in[1][i] * result[at(shape, here[0], y, x, here[3])];
                  }
                }
              },
          .differentiable = false};
}

const Conv2DAttributes linear, same{.padding = Padding::same}, layer_like{.bias = true, .activation = Activation::relu};
const Pool2DAttributes overlapping{.size = {3, 2}, .strides = {2, 1}, .padding = Padding::same};

std::vector<OpCase> conv_pool_cases() {
  const Layer grey{{5, 7, 8, 1}, {3, 3, 1, 16}, linear, {}}, grey_same{{3, 6, 6, 2}, {3, 3, 2, 32}, same, overlapping};
  const Layer grey_relu{{5, 7, 8, 1}, {3, 3, 1, 16}, layer_like, {}}, deep{{2, 6, 6, 5}, {3, 3, 5, 7}, layer_like, {}};
  const Conv2DAttributes strided{
      .strides = {2, 1}, .padding = Padding::same, .bias = true, .activation = Activation::relu};
  const Pool2DAttributes sliding{.size = {2, 2}, .strides = {1, 2}, .padding = Padding::same};
  const Layer colour{{3, 7, 5, 4}, {3, 3, 4, 40}, strided, sliding}, wide{{2, 9, 8, 1}, {5, 5, 1, 3}, linear, sliding};
  const Conv2DAttributes dilated{.padding = Padding::same, .dilations = {2, 3}}, far{.dilations = {7, 7}};
  const Layer spread{{2, 9, 11, 3}, {3, 3, 3, 5}, dilated, sliding}, torn{{1, 17, 18, 4}, {3, 3, 4, 3}, far, {}};
  const Layer deep_same{{2, 5, 6, 5}, {3, 3, 5, 7}, same, overlapping};
  return {
      forward_case("grey", grey),
      forward_case("grey_same_overlapping", grey_same),
      forward_case("grey_bias_relu", grey_relu),
      forward_case("deep_bias_relu", deep),
      forward_case("deep_same_overlapping", deep_same),
      forward_case("colour_strided_sliding", colour),
      forward_case("wide_window", wide),
      forward_case("colour_dilated_sliding", spread),
      forward_case("colour_far_apart", torn),
      gradient_case("grey_filter_gradient", grey),
      gradient_case("grey_same_overlapping_filter_gradient", grey_same),
      gradient_case("deep_filter_gradient", deep),
      gradient_case("deep_same_overlapping_filter_gradient", deep_same),
      gradient_case("colour_strided_sliding_filter_gradient", colour),
      gradient_case("wide_window_filter_gradient", wide),
  };
}

GPUBENCH_OP_CASES(ConvPool, conv_pool_cases);

/// Of -1, 0 and 1, whose convolution every type holds exactly: who wins does not depend on rounding, and many tie.
OpCase exact_case(const Layer& layer) {
  OpCase result = forward_case("exact", layer);
  for (CaseInput& input : result.inputs) {
    input.low = -1.4;
    input.high = 1.4;
    input.fill = support::whole_numbers;
  }
  result.halves = true;
  return result;
}

TEST(ConvPoolTest, EqualElementsGoToTheFirst) {
  support::check_forward(exact_case({{5, 7, 8, 1}, {3, 3, 1, 16}, layer_like, {}}));
  support::check_forward(exact_case({{2, 5, 6, 5}, {3, 3, 5, 7}, same, overlapping}));
  support::check_forward(exact_case({{2, 5, 6, 4}, {3, 3, 4, 33}, same, {}}));
}

TEST(ConvPoolTest, RefusesAnActivationThatChangesTheOrder) {
  Graph graph;
  const std::array inputs{graph.input({{1, 4, 4, 1}, Dtype::f32}, "x"), graph.input({{3, 3, 1, 8}, Dtype::f32}, "f")};
  EXPECT_ERROR("conv2d_max_pool: gelu changes which element is largest",
               graph.apply(std::make_shared<const Conv2DMaxPool>(Conv2DAttributes{.activation = Activation::gelu},
                                                                 Pool2DAttributes{}),
                           inputs));
}

}  // namespace
}  // namespace gpubench::conv_pool_test
