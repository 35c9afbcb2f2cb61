// How often verdicts are wrong, by simulation: processes with the noise of real ones are compared with processes of the
// same kind, or with slower ones. tests/truth/compare does the same with live processes.
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

#include "core/compare/change.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

using Noise = std::function<double(std::mt19937_64&)>;

std::vector<ProcessFigures> simulated(const Noise& noise, double factor, std::size_t count, std::mt19937_64& engine) {
  std::vector<ProcessFigures> processes;
  for (std::size_t i = 0; i < count; ++i) processes.push_back({factor * noise(engine)});
  return processes;
}

struct Counts {
  int slower = 0, faster = 0, same = 0;
};

Counts trials(const Noise& noise, double factor, std::size_t processes, int count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Counts counts;
  for (int i = 0; i < count; ++i) {
    Change change = measure_change(column_of("step_time_s"), simulated(noise, 1, processes, engine),
                                   simulated(noise, factor, processes, engine));
    judge_change(change);
    counts.slower += change.verdict == ChangeVerdict::worse;
    counts.faster += change.verdict == ChangeVerdict::better;
    counts.same += change.verdict == ChangeVerdict::same;
  }
  return counts;
}

double normal(std::mt19937_64& engine, double spread) {
  return std::exp(spread * std::normal_distribution<double>()(engine));
}

/// A quiet machine.
double quiet(std::mt19937_64& engine) {
  return normal(engine, 0.004);
}

/// A virtual machine: one process of eight meets a neighbour and takes up to half as long again.
double disturbed(std::mt19937_64& engine) {
  std::uniform_real_distribution<double> uniform;
  const double own = normal(engine, 0.02);
  return uniform(engine) < 0.125 ? own * (1 + 0.5 * uniform(engine)) : own;
}

/// Two states, such as memory that lies well or badly.
double bimodal(std::mt19937_64& engine) {
  return normal(engine, 0.003) * (std::uniform_int_distribution<int>(0, 1)(engine) == 0 ? 1 : 1.06);
}

TEST(Simulation, EqualSidesAreSeldomCalledDifferent) {
  constexpr int count = 700;
  // At most 5 of 1000 (10 of 2000 live comparisons).
  for (const Noise& noise : {Noise(quiet), Noise(disturbed), Noise(bimodal)}) {
    const Counts counts = trials(noise, 1, 7, count, 11);
    EXPECT_LE(counts.slower + counts.faster, 3);
  }
}

TEST(Simulation, QuietProcessesShowTwoPerCent) {
  const Counts counts = trials(quiet, 1.02, 10, 300, 12);
  EXPECT_GE(counts.slower, 285);
  EXPECT_EQ(counts.faster, 0);
  EXPECT_GE(trials(quiet, 1, 10, 300, 13).same, 285);
}

/// What a typical comparison says of itself.
double typical_visible_change(const Noise& noise, std::size_t processes) {
  std::mt19937_64 engine(14);
  std::vector<double> visible;
  for (int i = 0; i < 100; ++i) {
    const Change change = measure_change(column_of("step_time_s"), simulated(noise, 1, processes, engine),
                                         simulated(noise, 1, processes, engine));
    if (change.visible) visible.push_back(*change.visible);
  }
  return median(visible);
}

TEST(Simulation, TheChangeThatIsSaidToBeVisibleIsFound) {
  const Noise noisy = [](std::mt19937_64& engine) { return normal(engine, 0.02); };
  for (const std::size_t processes : {7, 10}) {
    const double visible = typical_visible_change(noisy, processes);
    EXPECT_GT(visible, 0.02);
    EXPECT_GE(trials(noisy, 1 + visible, processes, 200, 15).slower, 186);
  }
  EXPECT_GE(trials(disturbed, 1 + typical_visible_change(disturbed, 20), 20, 200, 16).slower, 170);
}

}  // namespace
}  // namespace gpubench
