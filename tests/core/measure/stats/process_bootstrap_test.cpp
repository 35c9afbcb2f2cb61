#include "core/measure/stats/process_bootstrap.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace gpubench {
namespace {

std::vector<ProcessFigures> processes_around(double median, double spread, std::size_t count, std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  std::vector<ProcessFigures> processes;
  for (std::size_t i = 0; i < count; ++i) processes.push_back({median * std::exp(spread * normal(engine))});
  return processes;
}

/// Share of trials whose interval covers the true ratio.
double ratio_coverage(std::size_t count, double ratio) {
  constexpr int trials = 500;
  std::mt19937_64 engine(7);
  int covered = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto before = processes_around(1e-3, 0.02, count, engine);
    const auto after = processes_around(ratio * 1e-3, 0.02, count, engine);
    covered += estimate_log_ratio(before, after).interval.contains(std::log(ratio));
  }
  return static_cast<double>(covered) / trials;
}

TEST(ProcessBootstrap, IsTheLogRatioOfMediansOfMedians) {
  const std::vector<ProcessFigures> before{{1}, {2}, {3, 3, 100}}, after{{4}, {4, 4}, {4}};
  const Estimate ratio = estimate_log_ratio(before, after);
  EXPECT_DOUBLE_EQ(ratio.value, std::log(2.0));
  EXPECT_TRUE(ratio.interval.contains(ratio.value));
  EXPECT_LT(ratio.interval.low, ratio.value);
}

TEST(ProcessBootstrap, SameSeedGivesTheSameInterval) {
  std::mt19937_64 engine(1);
  const auto before = processes_around(1, 0.1, 8, engine), after = processes_around(1, 0.1, 8, engine);
  EXPECT_EQ(estimate_log_ratio(before, after), estimate_log_ratio(before, after));
  EXPECT_NE(estimate_log_ratio(before, after, 2).interval, estimate_log_ratio(before, after, 1).interval);
}

TEST(ProcessBootstrap, CoversTheRatio) {
  EXPECT_GE(ratio_coverage(7, 1), 0.94);
  EXPECT_GE(ratio_coverage(10, 1.02), 0.94);
  EXPECT_GE(ratio_coverage(20, 1), 0.94);
}

TEST(ProcessBootstrap, EqualFiguresHaveAnIntervalOfNoWidth) {
  const std::vector<ProcessFigures> equal(7, ProcessFigures{2});
  EXPECT_EQ(estimate_log_ratio(equal, equal), (Estimate{0, {0, 0}}));
}

TEST(ProcessBootstrap, OneProcessHasNoInterval) {
  const std::vector<ProcessFigures> one{{1, 2, 3}}, many{{1}, {2}, {3}};
  EXPECT_TRUE(std::isinf(estimate_log_ratio(one, many).interval.high));
  EXPECT_TRUE(std::isinf(estimate_log_ratio({}, many).interval.low));
}

}  // namespace
}  // namespace gpubench
