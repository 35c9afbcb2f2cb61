#include "core/ops/unary.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/base/error.h"
#include "tests/support/op_case.h"

namespace gpubench {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

double phi(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

/// One input, one output: f of each element.
template <class O>
OpCase unary_case(std::string name, CaseInput input, double (*f)(double), bool differentiable = true) {
  const bool floating = is_floating(input.type.dtype);
  return {.name = std::move(name),
          .op = std::make_shared<const O>(),
          .inputs = {std::move(input)},
          .reference =
              [f](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < in[0].size(); ++i) out[0][i] = f(in[0][i]);
              },
          .differentiable = differentiable && floating};
}

/// dy and y (or x) -> dx.
template <class O>
OpCase gradient_case(std::string name, CaseInput saved, double (*f)(double, double)) {
  return {.name = std::move(name),
          .op = std::make_shared<const O>(),
          .inputs = {CaseInput{.type = saved.type}, saved},
          .reference =
              [f](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < in[0].size(); ++i) out[0][i] = f(in[0][i], in[1][i]);
              },
          .differentiable = false};
}

/// Of gelu's approximation.
double tanh_argument(double x) {
  return std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
}

std::vector<OpCase> unary_cases() {
  const TensorType f32{{5, 37}, Dtype::f32}, i32{{41}, Dtype::i32}, i64{{3, 3}, Dtype::i64}, u8{{70}, Dtype::u8};
  const TensorType large{{513, 257}, Dtype::f32}, boolean{{19}, Dtype::boolean};
  const CaseInput halves{.type = f32, .low = -9, .high = 9, .fill = [](Array& array, std::mt19937_64& random) {
                           support::whole_numbers(array, random);
                           for (double& value : array.values) value += 0.5;
                         }};
  const auto relu = [](double x) { return std::max(x, 0.0); };
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto gelu = [](double x) { return x * phi(x); };
  const auto gelu_tanh = [](double x) { return x / 2 * (1 + std::tanh(tanh_argument(x))); };
  const auto sign = [](double x) { return static_cast<double>((x > 0) - (x < 0)); };
  return {
      unary_case<Neg>("neg", {f32}, [](double x) { return -x; }),
      unary_case<Neg>("neg_int64", {i64, -9, 9}, [](double x) { return -x; }),
      unary_case<Abs>("abs", {f32}, [](double x) { return std::abs(x); }),
      unary_case<Abs>("abs_int32", {i32, -9, 9}, [](double x) { return std::abs(x); }),
      unary_case<Sign>("sign", {f32}, sign, false),
      unary_case<Sign>("sign_of_zeros", {i32, -1, 1}, sign, false),
      unary_case<Square>("square", {f32}, [](double x) { return x * x; }),
      unary_case<Square>("square_uint8", {u8, 0, 15}, [](double x) { return x * x; }),
      unary_case<Sqrt>("sqrt", {f32, 0.1, 4}, [](double x) { return std::sqrt(x); }),
      unary_case<Rsqrt>("rsqrt", {f32, 0.3, 4}, [](double x) { return 1 / std::sqrt(x); }),
      unary_case<Exp>("exp", {f32, -3, 3}, [](double x) { return std::exp(x); }),
      unary_case<Exp>("exp_of_a_scalar", {{{}, Dtype::f32}, -3, 3}, [](double x) { return std::exp(x); }),
      unary_case<Log>("log", {f32, 0.1, 5}, [](double x) { return std::log(x); }),
      unary_case<Floor>(
          "floor", {f32, -5, 5}, [](double x) { return std::floor(x); }, false),
      unary_case<Ceil>(
          "ceil", {f32, -5, 5}, [](double x) { return std::ceil(x); }, false),
      unary_case<Round>(
          "round", {f32, -5, 5}, [](double x) { return std::nearbyint(x); }, false),
      unary_case<Round>(
          "round_halves", halves, [](double x) { return std::nearbyint(x); }, false),
      unary_case<Relu>("relu", {f32}, relu),
      unary_case<Relu>("relu_on_threads", {large}, relu),
      unary_case<Relu>("relu_of_nothing", {{{0, 3}, Dtype::f32}}, relu),
      unary_case<Sigmoid>("sigmoid", {f32, -8, 8}, sigmoid),
      unary_case<Tanh>("tanh", {f32, -4, 4}, [](double x) { return std::tanh(x); }),
      unary_case<Gelu>("gelu", {f32, -5, 5}, gelu),
      unary_case<Gelu>("gelu_on_threads", {large, -5, 5}, gelu),
      unary_case<GeluTanh>("gelu_tanh", {f32, -5, 5}, gelu_tanh),
      unary_case<GeluTanh>("gelu_tanh_on_threads", {large, -5, 5}, gelu_tanh),
      unary_case<LogicalNot>(
          "logical_not", {boolean}, [](double x) { return 1 - x; }, false),
      gradient_case<ReluGradient>("relu_gradient", {f32}, [](double dy, double y) { return y > 0 ? dy : 0; }),
      gradient_case<SigmoidGradient>("sigmoid_gradient", {f32, 0, 1},
                                     [](double dy, double y) { return dy * y * (1 - y); }),
      gradient_case<TanhGradient>("tanh_gradient", {f32, -1, 1}, [](double dy, double y) { return dy * (1 - y * y); }),
      gradient_case<GeluGradient>(
          "gelu_gradient", {f32, -5, 5},
          [](double dy, double x) { return dy * (phi(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI)); }),
      gradient_case<GeluTanhGradient>("gelu_tanh_gradient", {f32, -5, 5},
                                      [](double dy, double x) {
                                        const double t = std::tanh(tanh_argument(x)), slope = 1 + 3 * 0.044715 * x * x;
                                        return dy / 2 * (1 + t + x * (1 - t * t) * std::sqrt(2 / M_PI) * slope);
                                      }),
  };
}

GPUBENCH_OP_CASES(Unary, unary_cases);

TEST(UnaryTest, RefusesTypesWithoutAMeaning) {
  Graph graph;
  const Value integers = graph.input({{2}, Dtype::i64}, "x"), flags = graph.input({{2}, Dtype::boolean}, "x");
  EXPECT_THAT([&] { ops::sqrt(graph, integers); },
              testing::ThrowsMessage<Error>("sqrt: int64[2] is not floating-point; cast it to float32"));
  EXPECT_THAT([&] { ops::neg(graph, flags); },
              testing::ThrowsMessage<Error>("neg: bool[2] is not numeric; cast it to float32 or int64"));
  EXPECT_THAT([&] { ops::logical_not(graph, integers); },
              testing::ThrowsMessage<Error>("logical_not: takes bool, got int64[2]"));
}

TEST(UnaryTest, ActivationGradientsTakeTwoTensorsOfOneType) {
  Graph graph;
  const Value dy = graph.input({{2}, Dtype::f32}, "dy"), y = graph.input({{3}, Dtype::f32}, "y");
  EXPECT_THAT([&] { ops::relu_gradient(graph, dy, y); },
              testing::ThrowsMessage<Error>("relu_gradient: the second input must be float32[2], got float32[3]"));
  EXPECT_THAT(
      [&] {
        graph.apply(std::make_shared<const Relu>(), {dy, y});
      },
      testing::ThrowsMessage<Error>("relu: takes 1 input, got 2"));
}

}  // namespace
}  // namespace gpubench
