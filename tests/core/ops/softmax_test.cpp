#include "core/ops/softmax.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>

#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::softmax_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

/// log(sum(exp(row))).
double log_sum(const double* row, std::int64_t width) {
  const double largest = *std::max_element(row, row + width);
  double sum = 0;
  for (std::int64_t i = 0; i < width; ++i) sum += std::exp(row[i] - largest);
  return largest + std::log(sum);
}

template <class O>
OpCase forward_case(std::string name, Shape shape, double range, double middle = 0) {
  return {.name = std::move(name),
          .op = std::make_shared<const O>(),
          .inputs = {CaseInput{.type = {std::move(shape), Dtype::f32}, .low = middle - range, .high = middle + range}},
          .reference = [](std::span<const Array> in, std::span<Array> out) {
            const std::int64_t width = in[0].type.shape.back();
            double shift = 0;
            for (std::int64_t i = 0; i < in[0].size(); ++i) {
              if (i % width == 0) shift = log_sum(in[0].values.data() + i, width);
              const double log_probability = in[0][i] - shift;
              out[0][i] = std::is_same_v<O, Softmax> ? std::exp(log_probability) : log_probability;
            }
          }};
}

/// dy, y -> dx
template <class O>
OpCase gradient_case(std::string name, const Shape& shape) {
  constexpr bool logarithm = std::is_same_v<O, LogSoftmaxGradient>;
  CaseInput result{.type = {shape, Dtype::f32}, .low = -4, .high = 0};
  if (!logarithm) result.fill = support::probability_rows;
  return {.name = std::move(name),
          .op = std::make_shared<const O>(),
          .inputs = {CaseInput{.type = {shape, Dtype::f32}}, result},
          .reference = [](std::span<const Array> in, std::span<Array> out) {
            const std::int64_t width = in[0].type.shape.back();
            for (std::int64_t i = 0; i < in[0].size(); ++i) {
              double sum = 0;
              for (std::int64_t k = i - i % width; k < i - i % width + width; ++k) {
                sum += in[0][k] * (logarithm ? 1 : in[1][k]);
              }
              out[0][i] = logarithm ? in[0][i] - std::exp(in[1][i]) * sum : in[1][i] * (in[0][i] - sum);
            }
          }};
}

std::vector<OpCase> softmax_cases() {
  return {
      forward_case<Softmax>("softmax", {4, 10}, 3),
      forward_case<Softmax>("softmax_of_a_vector", {7}, 3),
      forward_case<Softmax>("softmax_of_one_class", {4, 1}, 3),
      forward_case<Softmax>("softmax_does_not_overflow", {3, 5}, 2, 1000),
      forward_case<Softmax>("softmax_of_many_classes", {3, 3000}, 3),
      forward_case<Softmax>("softmax_on_threads", {900, 10}, 3),
      forward_case<LogSoftmax>("log_softmax", {4, 10}, 3),
      forward_case<LogSoftmax>("log_softmax_does_not_overflow", {3, 5}, 2, 1000),
      forward_case<LogSoftmax>("log_softmax_on_threads", {900, 10}, 3),
      gradient_case<SoftmaxGradient>("softmax_gradient", {4, 10}),
      gradient_case<SoftmaxGradient>("softmax_gradient_of_many_classes", {5, 37}),
      gradient_case<LogSoftmaxGradient>("log_softmax_gradient_of_many_classes", {5, 37}),
      gradient_case<SoftmaxGradient>("softmax_gradient_on_threads", {900, 10}),
      gradient_case<LogSoftmaxGradient>("log_softmax_gradient", {4, 10}),
  };
}

GPUBENCH_OP_CASES(Softmax, softmax_cases);

TEST(SoftmaxTest, RefusesScalarsAndIntegers) {
  Graph graph;
  EXPECT_ERROR("softmax: the input must be [..., classes], got a scalar",
               ops::softmax(graph, graph.input({{}, Dtype::f32}, "x")));
  EXPECT_ERROR("log_softmax: int32[3] is not floating-point; cast it to float32",
               graph.apply(std::make_shared<const LogSoftmax>(), {graph.input({{3}, Dtype::i32}, "x")}));
}

}  // namespace
}  // namespace gpubench::softmax_test
