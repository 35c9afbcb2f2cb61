#include "core/ops/elementwise.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>

#include "core/graph/leaf_ops.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::elementwise_test {
namespace {

using support::Array;
using support::broadcast_offset;
using support::CaseInput;
using support::floats;
using support::OpCase;

double phi(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

/// Its gradient is 0.
CaseInput constant(CaseInput input) {
  input.gradient = false;
  return input;
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
          .reference = [f](std::span<const Array> in, std::span<Array> out) {
            for (std::int64_t i = 0; i < in[0].size(); ++i) out[0][i] = f(in[0][i], in[1][i]);
          }};
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
      unary_case<Expm1>("expm1", {f32, -3, 3}, [](double x) { return std::expm1(x); }),
      unary_case<Log>("log", {f32, 0.1, 5}, [](double x) { return std::log(x); }),
      unary_case<Log1p>("log1p", {f32, -0.9, 5}, [](double x) { return std::log1p(x); }),
      unary_case<Sin>("sin", {f32, -10, 10}, [](double x) { return std::sin(x); }),
      unary_case<Sin>("sin_on_threads", {large, -300, 300}, [](double x) { return std::sin(x); }),
      unary_case<Cos>("cos", {f32, -10, 10}, [](double x) { return std::cos(x); }),
      unary_case<Tan>("tan", {f32, -1.2, 1.2}, [](double x) { return std::tan(x); }),
      unary_case<Arctan>("arctan", {f32, -4, 4}, [](double x) { return std::atan(x); }),
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
      unary_case<Relu6>("relu6", {f32, -4, 12}, [](double x) { return std::clamp(x, 0.0, 6.0); }),
      unary_case<Softplus>("softplus", {f32, -8, 8}, [](double x) { return std::log1p(std::exp(x)); }),
      unary_case<Softplus>("softplus_far_out", {f32, -200, 200},
                           [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }),
      unary_case<Sigmoid>("sigmoid", {f32, -8, 8}, sigmoid),
      unary_case<Tanh>("tanh", {f32, -4, 4}, [](double x) { return std::tanh(x); }),
      unary_case<Erf>("erf", {f32, -4, 4}, [](double x) { return std::erf(x); }),
      unary_case<Silu>("silu", {f32, -8, 8}, [](double x) { return x / (1 + std::exp(-x)); }),
      unary_case<Gelu>("gelu", {f32, -5, 5}, gelu),
      unary_case<Gelu>("gelu_on_threads", {large, -5, 5}, gelu),
      unary_case<GeluTanh>("gelu_tanh", {f32, -5, 5}, gelu_tanh),
      unary_case<GeluTanh>("gelu_tanh_on_threads", {large, -5, 5}, gelu_tanh),
      unary_case<LogicalNot>(
          "logical_not", {boolean}, [](double x) { return 1 - x; }, false),
      gradient_case<ReluGradient>("relu_gradient", constant({f32}), [](double dy, double y) { return y > 0 ? dy : 0; }),
      gradient_case<Relu6Gradient>("relu6_gradient", constant({f32, -2, 8}),
                                   [](double dy, double y) { return y > 0 && y < 6 ? dy : 0; }),
      gradient_case<SigmoidGradient>("sigmoid_gradient", {f32, 0, 1},
                                     [](double dy, double y) { return dy * y * (1 - y); }),
      gradient_case<TanhGradient>("tanh_gradient", {f32, -1, 1}, [](double dy, double y) { return dy * (1 - y * y); }),
      gradient_case<ErfGradient>("erf_gradient", {f32, -4, 4},
                                 [](double dy, double x) { return dy * 2 / std::sqrt(M_PI) * std::exp(-x * x); }),
      gradient_case<SiluGradient>("silu_gradient", {f32, -8, 8},
                                  [](double dy, double x) {
                                    const double s = 1 / (1 + std::exp(-x));
                                    return dy * s * (1 + x * (1 - s));
                                  }),
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
  EXPECT_ERROR("sqrt: int64[2] is not floating-point; cast it to float32", ops::sqrt(graph, integers));
  EXPECT_ERROR("neg: bool[2] is not numeric; cast it to float32 or int64", ops::neg(graph, flags));
  EXPECT_ERROR("logical_not: takes bool, got int64[2]", ops::logical_not(graph, integers));
}

TEST(UnaryTest, ActivationGradientsTakeTwoTensorsOfOneType) {
  Graph graph;
  const Value dy = graph.input({{2}, Dtype::f32}, "dy"), y = graph.input({{3}, Dtype::f32}, "y");
  EXPECT_ERROR("relu_gradient: the second input must be float32[2], got float32[3]", ops::relu_gradient(graph, dy, y));
  EXPECT_ERROR("relu: takes 1 input, got 2", graph.apply(std::make_shared<const Relu>(), {dy, y}));
}

using Function = double (*)(double, double);

OpCase binary_case(std::string name, OpPtr op, CaseInput a, CaseInput b, Function f, bool differentiable) {
  return {.name = std::move(name),
          .op = std::move(op),
          .inputs = {std::move(a), std::move(b)},
          .reference =
              [f](std::span<const Array> in, std::span<Array> out) {
                const Shape& to = out[0].type.shape;
                for (std::int64_t i = 0; i < out[0].size(); ++i) {
                  out[0][i] = f(in[0][broadcast_offset(i, to, in[0].type.shape)],
                                in[1][broadcast_offset(i, to, in[1].type.shape)]);
                }
              },
          .differentiable = differentiable};
}

template <class O>
OpCase smooth(std::string name, CaseInput a, CaseInput b, Function f) {
  return binary_case(std::move(name), std::make_shared<const O>(), std::move(a), std::move(b), f, true);
}

template <class O>
OpCase discrete(std::string name, CaseInput a, CaseInput b, Function f) {
  return binary_case(std::move(name), std::make_shared<const O>(), std::move(a), std::move(b), f, false);
}

double sum(double a, double b) {
  return a + b;
}
double product(double a, double b) {
  return a * b;
}
double quotient(double a, double b) {
  return a / b;
}

std::vector<OpCase> arithmetic_cases() {
  const CaseInput counts{{{4, 5}, Dtype::i64}, -9, 9}, count{{{}, Dtype::i64}, -9, 9};
  const CaseInput bytes{{{70}, Dtype::u8}, 0, 15};
  const CaseInput divisors{{{4, 5}, Dtype::i64}, 1, 4}, negative{{{5}, Dtype::i64}, -4, -1};
  const TensorType zero{{}, Dtype::i64};
  const auto floored = [](double a, double b) { return std::floor(a / b); };
  const auto rest = [](double a, double b) { return a - std::floor(a / b) * b; };
  const auto difference = [](double a, double b) { return a - b; };
  const auto power = [](double a, double b) { return std::pow(a, b); };
  const auto larger = [](double a, double b) { return std::max(a, b); };
  const auto smaller = [](double a, double b) { return std::min(a, b); };
  const auto leaky = [](double x, double slope) { return x < 0 ? slope * x : x; };
  const auto leaky_slope = [](double x, double slope) { return x < 0 ? slope : 1; };
  const auto elu = [](double x, double alpha) { return x < 0 ? alpha * std::expm1(x) : x; };
  const auto elu_slope = [](double x, double alpha) { return x < 0 ? alpha * std::exp(x) : 1; };
  return {
      smooth<Add>("add", floats({3, 35}), floats({3, 35}), sum),
      smooth<Add>("add_scalar", floats({3, 35}), floats({}), sum),
      smooth<Add>("add_to_scalar", floats({}), floats({3, 35}), sum),
      smooth<Add>("add_row", floats({6, 17}), floats({17}), sum),
      smooth<Add>("add_column", floats({6, 17}), floats({6, 1}), sum),
      smooth<Add>("add_outer", floats({6, 1}), floats({1, 17}), sum),
      smooth<Add>("add_channels", floats({2, 3, 3, 4}), floats({2, 1, 1, 4}), sum),
      smooth<Add>("add_alternating", floats({2, 1, 3, 1, 2}), floats({1, 4, 1, 3, 1}), sum),
      smooth<Add>("add_rows_on_threads", floats({350, 257}), floats({257}), sum),
      smooth<Add>("add_on_threads", floats({90000}), floats({90000}), sum),
      smooth<Add>("add_nothing", floats({0, 4}), floats({4}), sum),
      discrete<Add>("add_int64", counts, count, sum),
      discrete<Add>("add_uint8", bytes, bytes, sum),
      smooth<Sub>("sub", floats({41}), floats({41}), difference),
      smooth<Sub>("sub_row", floats({5, 7}), floats({7}), difference),
      discrete<Sub>("sub_int64", counts, count, difference),
      smooth<Mul>("mul", floats({41}), floats({41}), product),
      smooth<Mul>("mul_scalar", floats({5, 7}), floats({}), product),
      smooth<Mul>("mul_column", floats({5, 7}), floats({5, 1}), product),
      discrete<Mul>("mul_int64", counts, counts, product),
      smooth<Div>("div", floats({41}), floats({41}, 0.5, 2), quotient),
      smooth<Div>("div_row", floats({5, 7}), floats({7}, 0.5, 2), quotient),
      smooth<Pow>("pow", floats({41}, 0.5, 2), floats({41}, -2, 3), power),
      smooth<Pow>("pow_scalar", floats({5, 7}, 0.5, 2), floats({}, 2, 3), power),
      smooth<Pow>("pow_row", floats({5, 7}, 0.5, 2), floats({7}, 2, 3), power),
      discrete<FloorDiv>("floor_div", floats({41}, -9, 9), floats({41}, 0.5, 2), floored),
      discrete<FloorDiv>("floor_div_column", floats({5, 7}, 2.1, 2.9), floats({5, 1}, 1.5, 2), floored),
      discrete<FloorDiv>("floor_div_int64", counts, divisors, floored),
      discrete<FloorDiv>("floor_div_by_negative", counts, negative, floored),
      discrete<FloorDiv>("floor_div_by_zero", counts, {zero, 0, 0}, [](double, double) { return 0.0; }),
      discrete<FloorDiv>("floor_div_by_minus_one", counts, {zero, -1, -1}, floored),
      discrete<FloorDiv>("floor_div_uint8", bytes, {{{70}, Dtype::u8}, 1, 15}, floored),
      smooth<FloorMod>("floor_mod", floats({41}, 2.1, 2.9), floats({}, 2, 2), rest),
      smooth<FloorMod>("floor_mod_column", floats({5, 7}, 2.1, 2.9), floats({5, 1}, 1.5, 2), rest),
      discrete<FloorMod>("floor_mod_int64", counts, divisors, rest),
      discrete<FloorMod>("floor_mod_by_negative", counts, negative, rest),
      discrete<FloorMod>("floor_mod_by_zero", counts, {zero, 0, 0}, [](double, double) { return 0.0; }),
      discrete<FloorMod>("floor_mod_by_minus_one", counts, {zero, -1, -1}, rest),
      smooth<Maximum>("maximum", floats({5, 7}), floats({5, 7}), larger),
      smooth<Maximum>("maximum_row", floats({5, 7}), floats({7}), larger),
      discrete<Maximum>("maximum_int64", counts, count, larger),
      smooth<Minimum>("minimum", floats({5, 7}), floats({5, 7}), smaller),
      smooth<Minimum>("minimum_scalar", floats({5, 7}), floats({}), smaller),
      smooth<Minimum>("minimum_row", floats({5, 7}), floats({7}), smaller),
      discrete<Minimum>("minimum_int64", counts, count, smaller),
      smooth<LeakyRelu>("leaky_relu", floats({5, 7}), floats({}, 0.1, 0.3), leaky),
      smooth<LeakyRelu>("leaky_relu_row", floats({5, 7}), floats({7}, 0.1, 0.3), leaky),
      smooth<LeakySlope>("leaky_slope", constant(floats({5, 7})), floats({}, 0.1, 0.3), leaky_slope),
      smooth<LeakySlope>("leaky_slope_row", constant(floats({5, 7})), floats({7}, 0.1, 0.3), leaky_slope),
      smooth<Elu>("elu", floats({5, 7}, -3, 3), floats({}, 0.5, 2), elu),
      smooth<Elu>("elu_row", floats({5, 7}, -3, 3), floats({7}, 0.5, 2), elu),
      smooth<EluSlope>("elu_slope", floats({5, 7}, -3, 3), floats({}, 0.5, 2), elu_slope),
      smooth<EluSlope>("elu_slope_row", floats({5, 7}, -3, 3), floats({7}, 0.5, 2), elu_slope),
  };
}

std::vector<OpCase> comparison_cases() {
  const CaseInput few{{{9, 7}, Dtype::i32}, -2, 2}, one{{{7}, Dtype::i32}, -2, 2};
  const CaseInput flags{{{9, 7}, Dtype::boolean}}, flag{{{7}, Dtype::boolean}};
  CaseInput wholes = floats({9, 7}, -2, 2);
  wholes.fill = support::whole_numbers;
  const auto equal = [](double a, double b) { return static_cast<double>(a == b); };
  const auto not_equal = [](double a, double b) { return static_cast<double>(a != b); };
  const auto less = [](double a, double b) { return static_cast<double>(a < b); };
  const auto less_equal = [](double a, double b) { return static_cast<double>(a <= b); };
  const auto greater = [](double a, double b) { return static_cast<double>(a > b); };
  const auto greater_equal = [](double a, double b) { return static_cast<double>(a >= b); };
  return {
      discrete<Equal>("equal", few, few, equal),
      discrete<Equal>("equal_float32", wholes, wholes, equal),
      discrete<Equal>("equal_bool", flags, flag, equal),
      discrete<NotEqual>("not_equal", few, one, not_equal),
      discrete<NotEqual>("not_equal_float32", wholes, wholes, not_equal),
      discrete<Less>("less", wholes, wholes, less),
      discrete<Less>("less_int32", few, one, less),
      discrete<LessEqual>("less_equal", few, one, less_equal),
      discrete<LessEqual>("less_equal_float32", wholes, wholes, less_equal),
      discrete<Greater>("greater", wholes, wholes, greater),
      discrete<Greater>("greater_int32", few, one, greater),
      discrete<GreaterEqual>("greater_equal", few, one, greater_equal),
      discrete<GreaterEqual>("greater_equal_float32", wholes, wholes, greater_equal),
      discrete<LogicalAnd>("logical_and", flags, flag, product),
      discrete<LogicalOr>("logical_or", flags, flags, [](double a, double b) { return std::max(a, b); }),
  };
}

OpCase select_case(std::string name, Shape condition, CaseInput a, CaseInput b) {
  const bool floating = is_floating(a.type.dtype);
  return {.name = std::move(name),
          .op = std::make_shared<const Select>(),
          .inputs = {{{std::move(condition), Dtype::boolean}}, std::move(a), std::move(b)},
          .reference =
              [](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < out[0].size(); ++i) {
                  const auto at = [&](const Array& x) {
                    return x[broadcast_offset(i, out[0].type.shape, x.type.shape)];
                  };
                  out[0][i] = at(in[0]) != 0 ? at(in[1]) : at(in[2]);
                }
              },
          .differentiable = floating};
}

OpCase add_n_case(std::string name, TensorType type, std::size_t count) {
  return {.name = std::move(name),
          .op = std::make_shared<const AddN>(),
          .inputs = std::vector<CaseInput>(count, CaseInput{.type = std::move(type)}),
          .reference = [](std::span<const Array> in, std::span<Array> out) {
            for (const Array& x : in) {
              for (std::int64_t i = 0; i < x.size(); ++i) out[0][i] += x[i];
            }
          }};
}

std::vector<OpCase> select_cases() {
  return {
      select_case("select", {5, 7}, floats({5, 7}), floats({5, 7})),
      select_case("select_scalars", {5, 7}, floats({}), floats({7})),
      select_case("select_rows", {5, 1}, floats({5, 7}), floats({})),
      select_case("select_int64", {9}, {{{9}, Dtype::i64}, -9, 9}, {{{}, Dtype::i64}, -9, 9}),
      select_case("select_bool", {9}, {{{9}, Dtype::boolean}}, {{{}, Dtype::boolean}}),
      add_n_case("add_n_of_one", {{5, 7}, Dtype::f32}, 1),
      add_n_case("add_n_of_two", {{5, 7}, Dtype::f32}, 2),
      add_n_case("add_n_of_five", {{300, 200}, Dtype::f32}, 5),
  };
}

GPUBENCH_OP_CASES(Arithmetic, arithmetic_cases);
GPUBENCH_OP_CASES(Comparison, comparison_cases);
GPUBENCH_OP_CASES(SelectAndAddN, select_cases);

TEST(BinaryTest, TypesAreNeverCastSilently) {
  Graph graph;
  const Value x = graph.input({{2}, Dtype::f32}, "x"), n = graph.input({{2}, Dtype::i64}, "n");
  const Value flag = graph.input({{2}, Dtype::boolean}, "flag"), row = graph.input({{3}, Dtype::f32}, "row");
  EXPECT_ERROR("add: float32[2] and int64[2] differ in type; cast one of them", ops::add(graph, x, n));
  EXPECT_ERROR("equal: float32[2] and int64[2] differ in type; cast one of them", ops::equal(graph, x, n));
  EXPECT_ERROR("mul: shapes [2] and [3] do not broadcast", ops::mul(graph, x, row));
  EXPECT_ERROR("div: int64[2] is not floating-point; cast it to float32", ops::div(graph, n, n));
  EXPECT_ERROR("add: bool[2] is not numeric; cast it to float32 or int64", ops::add(graph, flag, flag));
  EXPECT_ERROR("logical_and: takes bool, got float32[2]", ops::logical_and(graph, flag, x));
  EXPECT_ERROR("select: the condition must be bool, got float32[2]", ops::select(graph, x, x, x));
  EXPECT_ERROR("select: float32[2] and int64[2] differ in type; cast one of them", ops::select(graph, flag, x, n));
  EXPECT_ERROR("add: takes 2 inputs, got 1", graph.apply(std::make_shared<const Add>(), {x}));
  const Value text = graph.input({{2}, Dtype::bytes}, "text");
  EXPECT_ERROR("less: bytes cannot be compared", ops::less(graph, text, text));
}

}  // namespace
}  // namespace gpubench::elementwise_test
