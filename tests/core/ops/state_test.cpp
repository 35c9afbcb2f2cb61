#include "core/ops/state.h"

#include <gtest/gtest.h>
#include <memory>

#include "core/ops/metric.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::state_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

OpCase state_case(std::string name, OpPtr op, CaseInput variable, CaseInput value,
                  std::function<double(double, double)> f) {
  return {.name = std::move(name),
          .op = std::move(op),
          .inputs = {std::move(variable), std::move(value)},
          .reference =
              [f = std::move(f)](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < in[0].size(); ++i) out[0][i] = f(in[0][i], in[1][i]);
              },
          .differentiable = false};
}

OpCase accumulate_case(std::string name, Shape values) {
  return {.name = std::move(name),
          .op = std::make_shared<const AccumulateMean>(),
          .inputs = {{{{2}, Dtype::f32}, 1, 10}, {{std::move(values), Dtype::f32}, 0, 1}},
          .reference =
              [](std::span<const Array> in, std::span<Array> out) {
                out[0][0] = in[0][0];
                out[0][1] = in[0][1] + static_cast<double>(in[1].size());
                for (const double value : in[1].values) out[0][0] += value;
              },
          .differentiable = false};
}

OpCase sum_and_count_case(std::string name, Shape values) {
  return {.name = std::move(name),
          .op = std::make_shared<const SumAndCount>(),
          .inputs = {{{std::move(values), Dtype::f32}, 0, 1}},
          .reference =
              [](std::span<const Array> in, std::span<Array> out) {
                out[0][0] = 0;
                out[0][1] = static_cast<double>(in[0].size());
                for (const double value : in[0].values) out[0][0] += value;
              },
          .differentiable = false};
}

std::vector<OpCase> state_cases() {
  const CaseInput matrix{{{70, 101}, Dtype::f32}}, counter{{{}, Dtype::i64}, -9, 9}, flags{{{9}, Dtype::boolean}};
  const auto value = [](double, double b) { return b; };
  const auto sum = [](double a, double b) { return a + b; };
  return {
      state_case("assign", std::make_shared<const Assign>(), matrix, matrix, value),
      state_case("assign_bool", std::make_shared<const Assign>(), flags, flags, value),
      state_case("assign_add", std::make_shared<const AssignAdd>(), matrix, matrix, sum),
      state_case("assign_add_counter", std::make_shared<const AssignAdd>(), counter, counter, sum),
      state_case("moving_average", std::make_shared<const MovingAverage>(0.9), matrix, matrix,
                 [](double a, double b) { return 0.9 * a + 0.1 * b; }),
      accumulate_case("accumulate_mean", {33}),
      accumulate_case("accumulate_mean_of_a_scalar", {}),
      accumulate_case("accumulate_mean_of_many", {50, 100}),
      sum_and_count_case("sum_and_count", {33}),
      sum_and_count_case("sum_and_count_of_a_scalar", {}),
      sum_and_count_case("sum_and_count_of_many", {50, 100}),
  };
}

GPUBENCH_OP_CASES(State, state_cases);

TEST(StateTest, ValuesHaveTheTypeOfTheVariable) {
  Graph graph;
  const Value x = graph.input({{2}, Dtype::f32}, "x"), row = graph.input({{3}, Dtype::f32}, "row");
  const Value n = graph.input({{2}, Dtype::i64}, "n");
  EXPECT_ERROR("assign: the value must be float32[2], got float32[3]", ops::assign(graph, x, row));
  EXPECT_ERROR("assign_add: the value must be float32[2], got int64[2]", ops::assign_add(graph, x, n));
  EXPECT_ERROR("moving_average: int64[2] is not floating-point; cast it to float32",
               ops::moving_average(graph, n, n, 0.9));
  EXPECT_ERROR("accumulate_mean: the state must be float32[2], got float32[3]", ops::accumulate_mean(graph, row, x));
  EXPECT_ERROR("accumulate_mean: the values must be float32[2], got int64[2]", ops::accumulate_mean(graph, x, n));
}

TEST(StateTest, UpdatesAreEffects) {
  EXPECT_TRUE(Assign().has_effect());
  EXPECT_TRUE(AccumulateMean().has_effect());
  EXPECT_NE(MovingAverage(0.9).attributes(), MovingAverage(0.99).attributes());
}

}  // namespace
}  // namespace gpubench::state_test
