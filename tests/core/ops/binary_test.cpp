#include "core/ops/binary.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/base/error.h"
#include "core/graph/leaf_ops.h"
#include "tests/support/op_case.h"

namespace gpubench {
namespace {

using support::Array;
using support::broadcast_offset;
using support::CaseInput;
using support::OpCase;
using testing::ThrowsMessage;

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

CaseInput floats(Shape shape, double low = -1, double high = 1) {
  return {.type = {std::move(shape), Dtype::f32}, .low = low, .high = high};
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
      smooth<Mul>("mul", floats({41}), floats({41}), product),
      smooth<Mul>("mul_scalar", floats({5, 7}), floats({}), product),
      smooth<Mul>("mul_column", floats({5, 7}), floats({5, 1}), product),
      discrete<Mul>("mul_int64", counts, counts, product),
      smooth<Div>("div", floats({41}), floats({41}, 0.5, 2), quotient),
      smooth<Div>("div_row", floats({5, 7}), floats({7}, 0.5, 2), quotient),
      smooth<Pow>("pow", floats({41}, 0.5, 2), floats({41}, -2, 3), power),
      smooth<Pow>("pow_scalar", floats({5, 7}, 0.5, 2), floats({}, 2, 3), power),
      discrete<FloorDiv>("floor_div", floats({41}, -9, 9), floats({41}, 0.5, 2), floored),
      discrete<FloorDiv>("floor_div_int64", counts, divisors, floored),
      discrete<FloorDiv>("floor_div_by_negative", counts, negative, floored),
      discrete<FloorDiv>("floor_div_by_zero", counts, {zero, 0, 0}, [](double, double) { return 0.0; }),
      discrete<FloorDiv>("floor_div_by_minus_one", counts, {zero, -1, -1}, floored),
      discrete<FloorDiv>("floor_div_uint8", bytes, {{{70}, Dtype::u8}, 1, 15}, floored),
      smooth<FloorMod>("floor_mod", floats({41}, 2.1, 2.9), floats({}, 2, 2), rest),
      discrete<FloorMod>("floor_mod_int64", counts, divisors, rest),
      discrete<FloorMod>("floor_mod_by_negative", counts, negative, rest),
      discrete<FloorMod>("floor_mod_by_zero", counts, {zero, 0, 0}, [](double, double) { return 0.0; }),
      discrete<FloorMod>("floor_mod_by_minus_one", counts, {zero, -1, -1}, rest),
      smooth<Maximum>("maximum", floats({5, 7}), floats({5, 7}), larger),
      smooth<Maximum>("maximum_row", floats({5, 7}), floats({7}), larger),
      smooth<Minimum>("minimum", floats({5, 7}), floats({5, 7}), smaller),
      smooth<Minimum>("minimum_scalar", floats({5, 7}), floats({}), smaller),
  };
}

std::vector<OpCase> comparison_cases() {
  const CaseInput few{{{9, 7}, Dtype::i32}, -2, 2}, one{{{7}, Dtype::i32}, -2, 2};
  const CaseInput flags{{{9, 7}, Dtype::boolean}}, flag{{{7}, Dtype::boolean}};
  CaseInput wholes = floats({9, 7}, -2, 2);
  wholes.fill = support::whole_numbers;
  const auto equal = [](double a, double b) { return static_cast<double>(a == b); };
  return {
      discrete<Equal>("equal", few, few, equal),
      discrete<Equal>("equal_float32", wholes, wholes, equal),
      discrete<Equal>("equal_bool", flags, flag, equal),
      discrete<NotEqual>("not_equal", few, one, [](double a, double b) { return static_cast<double>(a != b); }),
      discrete<Less>("less", wholes, wholes, [](double a, double b) { return static_cast<double>(a < b); }),
      discrete<LessEqual>("less_equal", few, one, [](double a, double b) { return static_cast<double>(a <= b); }),
      discrete<Greater>("greater", wholes, wholes, [](double a, double b) { return static_cast<double>(a > b); }),
      discrete<GreaterEqual>("greater_equal", few, one, [](double a, double b) { return static_cast<double>(a >= b); }),
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
  EXPECT_THAT([&] { ops::add(graph, x, n); },
              ThrowsMessage<Error>("add: float32[2] and int64[2] differ in type; cast one of them"));
  EXPECT_THAT([&] { ops::equal(graph, x, n); },
              ThrowsMessage<Error>("equal: float32[2] and int64[2] differ in type; cast one of them"));
  EXPECT_THAT([&] { ops::mul(graph, x, row); }, ThrowsMessage<Error>("mul: shapes [2] and [3] do not broadcast"));
  EXPECT_THAT([&] { ops::div(graph, n, n); },
              ThrowsMessage<Error>("div: int64[2] is not floating-point; cast it to float32"));
  EXPECT_THAT([&] { ops::add(graph, flag, flag); },
              ThrowsMessage<Error>("add: bool[2] is not numeric; cast it to float32 or int64"));
  EXPECT_THAT([&] { ops::logical_and(graph, flag, x); },
              ThrowsMessage<Error>("logical_and: takes bool, got float32[2]"));
  EXPECT_THAT([&] { ops::select(graph, x, x, x); },
              ThrowsMessage<Error>("select: the condition must be bool, got float32[2]"));
  EXPECT_THAT([&] { ops::select(graph, flag, x, n); },
              ThrowsMessage<Error>("select: float32[2] and int64[2] differ in type; cast one of them"));
  EXPECT_THAT([&] { graph.apply(std::make_shared<const Add>(), {x}); },
              ThrowsMessage<Error>("add: takes 2 inputs, got 1"));
  const Value text = graph.input({{2}, Dtype::bytes}, "text");
  EXPECT_THAT([&] { ops::less(graph, text, text); }, ThrowsMessage<Error>("less: bytes cannot be compared"));
}

}  // namespace
}  // namespace gpubench
