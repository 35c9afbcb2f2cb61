#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/base/error.h"
#include "core/ops/state.h"
#include "tests/support/op_case.h"

namespace gpubench::schedule_test {
namespace {

using support::Array;
using support::OpCase;
using testing::ThrowsMessage;

OpCase schedule_case(std::string name, OpPtr op, std::function<double(double)> f) {
  return {.name = std::move(name),
          .op = std::move(op),
          .inputs = {{{{}, Dtype::i64}, 0, 300}},
          .reference = [f = std::move(f)](std::span<const Array> in, std::span<Array> out) { out[0][0] = f(in[0][0]); },
          .differentiable = false};
}

std::vector<OpCase> schedule_cases() {
  return {
      schedule_case("cosine_decay", std::make_shared<const CosineDecay>(0.1, 200, 0.05),
                    [](double step) {
                      const double share = std::min(step / 200, 1.0);
                      return 0.1 * (0.95 * 0.5 * (1 + std::cos(M_PI * share)) + 0.05);
                    }),
      schedule_case("exponential_decay", std::make_shared<const ExponentialDecay>(0.1, 50, 0.9, false),
                    [](double step) { return 0.1 * std::pow(0.9, step / 50); }),
      schedule_case("exponential_stairs", std::make_shared<const ExponentialDecay>(0.1, 50, 0.9, true),
                    [](double step) { return 0.1 * std::pow(0.9, std::floor(step / 50)); }),
  };
}

GPUBENCH_OP_CASES(Schedule, schedule_cases);

TEST(ScheduleTest, NeedsStepsAndAnIntegerStep) {
  Graph graph;
  const Value step = graph.input({{}, Dtype::i64}, "step"), x = graph.input({{}, Dtype::f32}, "x");
  EXPECT_THAT([&] { ops::cosine_decay(graph, step, 0.1, 0); },
              ThrowsMessage<Error>("cosine_decay: decay_steps must be above 0, got 0"));
  EXPECT_THAT([&] { ops::exponential_decay(graph, step, 0.1, -1, 0.9); },
              ThrowsMessage<Error>("exponential_decay: decay_steps must be above 0, got -1"));
  EXPECT_THAT([&] { ops::cosine_decay(graph, x, 0.1, 10); },
              ThrowsMessage<Error>("cosine_decay: the step must be int64[], got float32[]"));
}

}  // namespace
}  // namespace gpubench::schedule_test
