#include "core/ops/quantized_linear.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/device/device.h"
#include "tests/support/activated.h"
#include "tests/support/case_checks.h"
#include "tests/support/case_inputs.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::quantized_linear_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

/// So that sums times them are exact in float32, and what lies halfway between two steps does so for every kernel.
void powers_of_two(Array& array, std::mt19937_64& random) {
  for (double& value : array.values) value = std::ldexp(1.0, static_cast<int>(random() % 3) - 12);
}
void halves(Array& array, std::mt19937_64&) {
  for (double& value : array.values) value = std::round(value * 2) / 2;
}
void quarter(Array& array, std::mt19937_64&) {
  std::ranges::fill(array.values, 0.25);
}

double finish(const QuantizedEpilogue& options, std::span<const Array> in, std::int64_t channel, double sum) {
  double y = sum * in[2][channel] + (options.bias ? in[3][channel] : 0);
  y = support::activated(options.activation, y);
  return options.requantize ? std::clamp(std::nearbyint(y / in.back()[0]), -128.0, 127.0) : y;
}

std::vector<CaseInput> inputs_of(const QuantizedEpilogue& options, Shape x, Shape weights) {
  const Shape channels{weights.back()};
  std::vector<CaseInput> inputs = {
      CaseInput{.type = {std::move(x), Dtype::i8}, .low = -128, .high = 127},
      CaseInput{.type = {std::move(weights), Dtype::i8}, .low = -127, .high = 127},
      CaseInput{.type = {channels, Dtype::f32}, .gradient = false, .fill = &powers_of_two}};
  if (options.bias) inputs.push_back({.type = {channels, Dtype::f32}, .low = -9, .high = 9, .fill = &halves});
  if (options.requantize) inputs.push_back({.type = {{}, Dtype::f32}, .fill = &quarter});
  return inputs;
}

OpCase matmul_case(std::string name, std::int64_t m, std::int64_t k, std::int64_t n, QuantizedEpilogue options = {}) {
  return {.name = std::move(name),
          .op = std::make_shared<const QuantizedMatmul>(options),
          .inputs = inputs_of(options, {m, k}, {k, n}),
          .reference =
              [options, k, n](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < out[0].size(); ++i) {
                  double sum = 0;
                  for (std::int64_t l = 0; l < k; ++l) sum += in[0][i / n * k + l] * in[1][l * n + i % n];
                  out[0][i] = finish(options, in, i % n, sum);
                }
              },
          .differentiable = false};
}

std::vector<OpCase> matmul_cases() {
  return {matmul_case("plain", 5, 32, 16),
          matmul_case("odd", 7, 13, 10),
          matmul_case("one_example", 1, 784, 10, {.bias = true}),
          matmul_case("of_one", 3, 1, 1),
          matmul_case("relu", 9, 64, 48, {.bias = true, .activation = Activation::relu}),
          matmul_case("sigmoid", 9, 20, 12, {.bias = true, .activation = Activation::sigmoid}),
          matmul_case("tanh", 9, 20, 12, {.activation = Activation::tanh}),
          matmul_case("gelu", 9, 20, 12, {.bias = true, .activation = Activation::gelu}),
          matmul_case("gelu_tanh", 9, 20, 12, {.activation = Activation::gelu_tanh}),
          matmul_case("to_int8", 9, 64, 48, {.requantize = true}),
          matmul_case("odd_to_int8", 9, 65, 3, {.bias = true, .requantize = true}),
          matmul_case("relu_to_int8", 33, 100, 70, {.bias = true, .activation = Activation::relu, .requantize = true}),
          matmul_case("on_threads", 130, 300, 200, {.bias = true, .activation = Activation::relu, .requantize = true})};
}

GPUBENCH_OP_CASES(QuantizedMatmul, matmul_cases);

void convolve(const QuantizedConv2DAttributes& options, std::span<const Array> in, Array& out) {
  const Array &x = in[0], &filter = in[1];
  const auto axes = slide("reference", options.window(), x.type.shape, filter.type.shape);
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const Shape place = support::coordinates(i, out.type.shape);
    double sum = 0;
    for (std::int64_t f = 0; f < filter.size(); ++f) {
      const Shape at = support::coordinates(f, filter.type.shape);
      const std::int64_t row = place[1] * options.strides[0] + at[0] * options.dilations[0] - axes[0].padding_before;
      const std::int64_t column = place[2] * options.strides[1] + at[1] * options.dilations[1] - axes[1].padding_before;
      if (at[3] != place[3] || row < 0 || row >= x.extent(1) || column < 0 || column >= x.extent(2)) continue;
      sum += x[support::offset({place[0], row, column, at[2]}, x.type.shape)] * filter[f];
    }
    out[i] = finish(options, in, place[3], sum);
  }
}

OpCase conv_case(std::string name, Shape x, Shape filter, const QuantizedConv2DAttributes& options = {}) {
  return {.name = std::move(name),
          .op = std::make_shared<const QuantizedConv2D>(options),
          .inputs = inputs_of(options, std::move(x), std::move(filter)),
          .reference = [options](std::span<const Array> in, std::span<Array> out) { convolve(options, in, out[0]); },
          .differentiable = false};
}

QuantizedConv2DAttributes with_window(QuantizedEpilogue epilogue, Extents strides, Padding padding,
                                      Extents dilations = {1, 1}) {
  QuantizedConv2DAttributes options;
  static_cast<QuantizedEpilogue&>(options) = std::move(epilogue);
  options.strides = strides;
  options.padding = padding;
  options.dilations = dilations;
  return options;
}

std::vector<OpCase> conv_cases() {
  const QuantizedEpilogue relu{.bias = true, .activation = Activation::relu};
  const QuantizedEpilogue next{.bias = true, .activation = Activation::relu, .requantize = true};
  return {conv_case("plain", {2, 6, 5, 4}, {3, 3, 4, 8}),
          conv_case("grey", {2, 12, 12, 1}, {3, 3, 1, 16}, with_window(relu, {1, 1}, Padding::same)),
          conv_case("wide", {2, 5, 6, 32}, {3, 3, 32, 8}, with_window(relu, {2, 1}, Padding::same)),
          conv_case("odd", {3, 7, 6, 3}, {2, 3, 3, 5}, with_window(relu, {1, 1}, Padding::valid)),
          conv_case("strides", {2, 9, 8, 5}, {3, 3, 5, 7}, with_window(next, {2, 3}, Padding::same)),
          conv_case("dilations", {2, 9, 9, 4}, {3, 3, 4, 4}, with_window(next, {1, 1}, Padding::same, {2, 2})),
          conv_case("each_place", {2, 5, 5, 16}, {1, 1, 16, 32}, with_window(next, {1, 1}, Padding::valid)),
          conv_case("to_int8", {2, 6, 6, 8}, {3, 3, 8, 6}, with_window({.requantize = true}, {1, 1}, Padding::same))};
}

GPUBENCH_OP_CASES(QuantizedConv2D, conv_cases);

template <class O>
OpPtr with_packed(const O& op, const Shape& weights) {
  auto options = op.options;
  options.packed = weights;
  return std::make_shared<const O>(options);
}

/// The product of a case, reading weights that another kernel has packed.
OpPtr reader_of(const OpCase& product) {
  const Shape& weights = product.inputs[1].type.shape;
  if (const auto* matmul = dynamic_cast<const QuantizedMatmul*>(product.op.get())) return with_packed(*matmul, weights);
  return with_packed(dynamic_cast<const QuantizedConv2D&>(*product.op), weights);
}

std::vector<OpCase> packing_cases() {
  std::vector<OpCase> cases = matmul_cases();
  for (OpCase& one : conv_cases()) cases.push_back(std::move(one));
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].name = "case_" + std::to_string(i);
  return cases;
}

/// What packing gives is the backend's own, so that only a product can tell whether it is right.
class PackWeightsTest : public testing::TestWithParam<OpCase> {};

TEST_P(PackWeightsTest, ProductsReadWhatWasPacked) {
  if (support::places().empty()) GTEST_SKIP() << support::why_no_place();
  const OpCase& product = GetParam();
  const OpPtr reader = reader_of(product);
  const support::CaseInputs drawn(product);
  const std::vector<Array> want = support::run_reference(product, drawn.arrays);
  for (const support::Place& place : support::places()) {
    Graph graph;
    std::vector<Value> inputs;
    for (const CaseInput& input : product.inputs) inputs.push_back(graph.input(input.type, "input"));
    inputs[1] = graph.apply(std::make_shared<const PackWeights>(reader, product.inputs[0].type), {inputs[1]});
    const std::vector<Value> outputs{graph.apply(reader, inputs)};
    const auto got = support::evaluate(*place.backend, *place.device, graph, drawn.tensors, outputs);
    support::expect_close(support::to_array(got[0]), want[0], support::tolerance_of(product, want[0].type.dtype),
                          support::where(place));
  }
}

INSTANTIATE_TEST_SUITE_P(PackWeights, PackWeightsTest, testing::ValuesIn(packing_cases()), &support::case_name);

const bool packing_covered =
    support::cover({OpCase{.op = std::make_shared<const PackWeights>(std::make_shared<const QuantizedMatmul>(),
                                                                     TensorType{{1, 1}, Dtype::i8})}});

TEST(QuantizedLinearTest, RefusesWhatDoesNotMultiply) {
  Graph graph;
  const auto input = [&](Shape shape, Dtype dtype) { return graph.input({std::move(shape), dtype}, "input"); };
  const Value x = input({2, 3}, Dtype::i8), weights = input({3, 4}, Dtype::i8), scale = input({4}, Dtype::f32);
  EXPECT_ERROR("quantized_matmul: multiplies int8 by int8, got float32[2, 3] and int8[3, 4]",
               ops::quantized_matmul(graph, input({2, 3}, Dtype::f32), weights, scale));
  EXPECT_ERROR("quantized_matmul: [2, 5] times weights of [3, 4]: the inner dimensions 5 and 3 differ",
               ops::quantized_matmul(graph, input({2, 5}, Dtype::i8), weights, scale));
  EXPECT_ERROR("quantized_matmul: the scale must be float32[4], got float32[3]",
               ops::quantized_matmul(graph, x, weights, input({3}, Dtype::f32)));
  EXPECT_ERROR("quantized_conv2d: the image [1, 5, 5, 2] has 2 channels, the filter [3, 3, 1, 4] expects 1",
               ops::quantized_conv2d(graph, input({1, 5, 5, 2}, Dtype::i8), input({3, 3, 1, 4}, Dtype::i8), scale, {}));
  EXPECT_ERROR(
      "pack_weights: takes int8 [k, n] or [height, width, input channels, output "
      "channels], got float32[4]",
      graph.apply(
          std::make_shared<const PackWeights>(std::make_shared<const QuantizedMatmul>(), TensorType{{2, 3}, Dtype::i8}),
          {scale}));
}

}  // namespace
}  // namespace gpubench::quantized_linear_test
