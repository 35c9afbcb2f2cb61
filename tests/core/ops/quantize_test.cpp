#include "core/ops/quantize.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::quantize_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

double at_scale(const Array& scale, std::int64_t i) {
  return scale[i % scale.size()];
}

double quantized(double x, double scale) {
  return std::clamp(std::nearbyint(x / scale), -128.0, 127.0);
}

/// Powers of two, by which division is exact: what lies halfway between two steps then does so for every kernel.
void powers_of_two(Array& array, std::mt19937_64& random) {
  for (double& value : array.values) value = std::ldexp(1.0, static_cast<int>(random() % 3) - 6);
}

/// Many lie halfway between two steps, and some beyond the last.
void quarters(Array& array, std::mt19937_64&) {
  for (double& value : array.values) value = std::round(value * 256) / 256;
}

OpCase quantize_case(std::string name, Shape shape, Shape scale) {
  return {.name = std::move(name),
          .op = std::make_shared<const Quantize>(),
          .inputs = {CaseInput{.type = {std::move(shape), Dtype::f32}, .low = -9, .high = 9, .fill = &quarters},
                     CaseInput{.type = {std::move(scale), Dtype::f32}, .fill = &powers_of_two}},
          .reference =
              [](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < in[0].size(); ++i) out[0][i] = quantized(in[0][i], at_scale(in[1], i));
              },
          .differentiable = false};
}

std::vector<OpCase> quantize_cases() {
  return {quantize_case("tensor", {6, 10}, {}), quantize_case("channels", {6, 10}, {10}),
          quantize_case("filters", {3, 3, 5, 7}, {7}), quantize_case("on_threads", {700, 784}, {}),
          quantize_case("nothing", {0, 4}, {4})};
}

GPUBENCH_OP_CASES(Quantize, quantize_cases);

/// With scales of up to 1/16, a third of the values saturates.
OpCase fake_case(std::string name, Shape shape, Shape scale) {
  return {.name = std::move(name),
          .op = std::make_shared<const FakeQuantize>(),
          .inputs = {CaseInput{.type = {std::move(shape), Dtype::f32}, .low = -9, .high = 9},
                     CaseInput{.type = {std::move(scale), Dtype::f32}, .gradient = false, .fill = &powers_of_two}},
          .reference =
              [](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  const double step = at_scale(in[1], i);
                  out[0][i] = quantized(in[0][i], step) * step;
                }
              },
          .differentiated =
              [](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  const double step = at_scale(in[1], i);
                  out[0][i] = std::clamp(in[0][i], -128 * step, 127 * step);
                }
              }};
}

OpCase unset_case() {
  OpCase result = fake_case("unset", {4, 6}, {});
  result.inputs[1].fill = [](Array& array, std::mt19937_64&) { std::ranges::fill(array.values, 0.0); };
  result.reference = [](std::span<const Array> in, std::span<Array> out) { out[0].values = in[0].values; };
  result.differentiated = nullptr;
  return result;
}

std::vector<OpCase> fake_cases() {
  return {fake_case("tensor", {6, 10}, {}), fake_case("channels", {6, 10}, {10}),
          fake_case("filters", {3, 3, 5, 7}, {7}), fake_case("on_threads", {200, 784}, {784}), unset_case()};
}

GPUBENCH_OP_CASES(FakeQuantize, fake_cases);

OpCase fake_gradient_case(std::string name, Shape scale) {
  return {.name = std::move(name),
          .op = std::make_shared<const FakeQuantizeGradient>(),
          .inputs = {CaseInput{.type = {{30, 12}, Dtype::f32}},
                     CaseInput{.type = {{30, 12}, Dtype::f32}, .low = -9, .high = 9, .gradient = false},
                     CaseInput{.type = {std::move(scale), Dtype::f32}, .gradient = false, .fill = &powers_of_two}},
          .reference = [](std::span<const Array> in, std::span<Array> out) {
            for (std::int64_t i = 0; i < in[0].size(); ++i) {
              const double steps = in[1][i] / at_scale(in[2], i);
              out[0][i] = steps >= -128 && steps <= 127 ? in[0][i] : 0;
            }
          }};
}

std::vector<OpCase> fake_gradient_cases() {
  return {fake_gradient_case("masks", {12}), fake_gradient_case("masks_by_one_scale", {})};
}

GPUBENCH_OP_CASES(FakeQuantizeGradient, fake_gradient_cases);

TEST(QuantizeTest, RefusesOtherTypesAndScales) {
  Graph graph;
  const Value x = graph.input({{2, 3}, Dtype::f32}, "x"), whole = graph.input({{2, 3}, Dtype::i32}, "x");
  const Value one = graph.input({{}, Dtype::f32}, "scale"), two = graph.input({{2}, Dtype::f32}, "scale");
  EXPECT_ERROR("quantize: takes float32, got int32[2, 3]", ops::quantize(graph, whole, one));
  EXPECT_ERROR(
      "quantize: the scale of float32[2, 3] must be float32, one number or one "
      "for each of the last dimension, got float32[2]",
      ops::quantize(graph, x, two));
  EXPECT_ERROR(testing::StartsWith("fake_quantize: the scale of"), ops::fake_quantize(graph, x, two));
}

}  // namespace
}  // namespace gpubench::quantize_test
