#include <cmath>
#include <gtest/gtest.h>
#include <memory>

#include "core/ops/state.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::schedule_test {
namespace {

using support::Array;
using support::OpCase;

OpCase schedule_case(std::string name, OpPtr op, std::function<double(double)> f) {
  return {.name = std::move(name),
          .op = std::move(op),
          .inputs = {{{{}, Dtype::i64}, 0, 300}},
          .reference = [f = std::move(f)](std::span<const Array> in, std::span<Array> out) { out[0][0] = f(in[0][0]); },
          .differentiable = false};
}

template <class F>
OpPtr schedule(const F& function) {
  return std::make_shared<const ScheduleOp<F>>(function);
}

std::vector<OpCase> schedule_cases() {
  return {
      schedule_case("cosine_decay", schedule(math::CosineDecay{0.1, 200, 0.05, 0.1, 0}),
                    [](double step) {
                      const double share = std::min(step / 200, 1.0);
                      return 0.1 * (0.95 * 0.5 * (1 + std::cos(M_PI * share)) + 0.05);
                    }),
      schedule_case("cosine_decay_warm_up", schedule(math::CosineDecay{0.01, 200, 0.05, 0.1, 50}),
                    [](double step) {
                      if (step < 50) return 0.01 + 0.09 * step / 50;
                      const double share = std::min((step - 50) / 200, 1.0);
                      return 0.1 * (0.95 * 0.5 * (1 + std::cos(M_PI * share)) + 0.05);
                    }),
      schedule_case("cosine_decay_restarts", schedule(math::CosineDecayRestarts{0.1, 50, 2, 0.5, 0.05}),
                    [](double step) {
                      double begin = 0, length = 50, rate = 1;
                      for (; step >= begin + length; length *= 2, rate *= 0.5) begin += length;
                      return 0.1 * (0.95 * 0.5 * rate * (1 + std::cos(M_PI * (step - begin) / length)) + 0.05);
                    }),
      schedule_case("cosine_decay_restarts_alike", schedule(math::CosineDecayRestarts{0.1, 50, 1, 0.9, 0}),
                    [](double step) {
                      const double restarts = std::floor(step / 50);
                      return 0.05 * std::pow(0.9, restarts) * (1 + std::cos(M_PI * (step / 50 - restarts)));
                    }),
      schedule_case("inverse_time_decay", schedule(math::InverseTimeDecay{{0.1, 50, 0.9, false}}),
                    [](double step) { return 0.1 / (1 + 0.9 * step / 50); }),
      schedule_case("inverse_time_stairs", schedule(math::InverseTimeDecay{{0.1, 50, 0.9, true}}),
                    [](double step) { return 0.1 / (1 + 0.9 * std::floor(step / 50)); }),
      schedule_case("nadam_momentum", schedule(math::NadamMomentum{0.99}),
                    [](double step) {
                      double product = 1;
                      for (int i = 1; i <= step; ++i) product *= 0.99 * (1 - 0.5 * std::pow(0.96, i));
                      return product;
                    }),
      schedule_case("exponential_decay", schedule(math::ExponentialDecay{{0.1, 50, 0.9, false}}),
                    [](double step) { return 0.1 * std::pow(0.9, step / 50); }),
      schedule_case("exponential_stairs", schedule(math::ExponentialDecay{{0.1, 50, 0.9, true}}),
                    [](double step) { return 0.1 * std::pow(0.9, std::floor(step / 50)); }),
      schedule_case("polynomial_decay", schedule(math::PolynomialDecay{0.1, 100, 0.01, 2, false}),
                    [](double step) { return 0.09 * std::pow(1 - std::min(step, 100.0) / 100, 2) + 0.01; }),
      schedule_case("polynomial_cycles", schedule(math::PolynomialDecay{0.1, 100, 0.01, 1, true}),
                    [](double step) {
                      const double length = 100 * std::max(1.0, std::ceil(step / 100));
                      return 0.09 * (1 - step / length) + 0.01;
                    }),
      schedule_case("piecewise_constant", schedule(math::PiecewiseConstant{2, {100, 200}, {0.1, 0.01, 0.001}}),
                    [](double step) { return step <= 100   ? 0.1
                                             : step <= 200 ? 0.01
                                                           : 0.001; }),
  };
}

GPUBENCH_OP_CASES(Schedule, schedule_cases);

TEST(ScheduleTest, NeedsAnIntegerStep) {
  Graph graph;
  const Value x = graph.input({{}, Dtype::f32}, "x");
  EXPECT_ERROR("cosine_decay: the step must be int64[], got float32[]",
               graph.apply(schedule(math::CosineDecay{0.1, 10, 0, 0.1, 0}), {x}));
}

TEST(ScheduleTest, AttributesSayEverythingThatDecidesTheResult) {
  const auto pieces = [](double last) { return schedule(math::PiecewiseConstant{1, {10}, {0.1, last}})->attributes(); };
  EXPECT_NE(pieces(0.01), pieces(0.02));
  EXPECT_NE(schedule(math::ExponentialDecay{{0.1, 50, 0.9, true}})->attributes(),
            schedule(math::ExponentialDecay{{0.1, 50, 0.9, false}})->attributes());
}

}  // namespace
}  // namespace gpubench::schedule_test
