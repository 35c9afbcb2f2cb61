// How often verdicts are wrong, by simulation: processes with the noise of real ones are compared with processes of the
// same kind, or with slower ones. tests/truth/compare does the same with live processes.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>

#include "core/compare/change.h"
#include "core/measure/stats/quantile.h"
#include "core/results/append_file.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

using Noise = std::function<double(std::mt19937_64&)>;

std::vector<ProcessFigures> simulated(const Noise& noise, double factor, std::size_t count, std::mt19937_64& engine) {
  std::vector<ProcessFigures> processes;
  for (std::size_t i = 0; i < count; ++i) processes.push_back({factor * noise(engine)});
  return processes;
}

/// Neither rates nor visible changes are asked for, which take most of the time.
constexpr ChangeLimits verdicts_only{.false_positive_rate = 0.0, .visible = 0.0};

struct Counts {
  int slower = 0, faster = 0, same = 0, covered = 0;
};

struct NoiseOfSides {
  const Noise* before;
  const Noise* after;
};

Counts trials(NoiseOfSides noise, double factor, std::size_t processes, int count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Counts counts;
  for (int i = 0; i < count; ++i) {
    Change change = measure_change(column_of("step_time_s"), simulated(*noise.before, 1, processes, engine),
                                   simulated(*noise.after, factor, processes, engine), verdicts_only);
    judge_change(change);
    counts.slower += change.verdict == ChangeVerdict::worse;
    counts.faster += change.verdict == ChangeVerdict::better;
    counts.same += change.verdict == ChangeVerdict::same;
    counts.covered += change.log_ratio->interval.contains(std::log(factor));
  }
  return counts;
}

Counts trials(const Noise& noise, double factor, std::size_t processes, int count, std::uint64_t seed) {
  return trials(NoiseOfSides{&noise, &noise}, factor, processes, count, seed);
}

double normal(std::mt19937_64& engine, double spread) {
  return std::exp(spread * std::normal_distribution<double>()(engine));
}

/// A quiet machine.
double quiet(std::mt19937_64& engine) {
  return normal(engine, 0.004);
}

/// Sides that are drawn alike, but for one process of one side that is up to five times as slow.
class WithOneDisturbed {
 public:
  explicit WithOneDisturbed(std::size_t processes) : processes_(processes) {}
  double operator()(std::mt19937_64& engine) {
    const double own = normal(engine, 0.01);
    if (drawn_++ % processes_ != 0) return own;
    return own * (1 + 4 * std::uniform_real_distribution<double>()(engine));
  }

 private:
  std::size_t processes_, drawn_ = 0;
};

struct Cell {
  const char* name;
  Noise before, after;
  double least_covered;
};

std::vector<Cell> cells_of(std::size_t processes) {
  const auto of_normal = [](double spread) {
    return Noise([=](std::mt19937_64& engine) { return normal(engine, spread); });
  };
  const auto states = [](double ratio, double share) {
    return Noise([=](std::mt19937_64& engine) {
      return normal(engine, 0.002) * (std::uniform_real_distribution<double>()(engine) < share ? ratio : 1);
    });
  };
  const auto skewed = Noise([](std::mt19937_64& engine) { return 1 + 0.02 * normal(engine, 1); });
  const auto wild = Noise([](std::mt19937_64& engine) { return normal(engine, 1); });
  const Noise quiet_one = of_normal(0.01), one = WithOneDisturbed(processes);
  return {{"normal 0.4 %", of_normal(0.004), of_normal(0.004), 0.94},
          {"normal 1 %", of_normal(0.01), of_normal(0.01), 0.94},
          {"normal 5 %", of_normal(0.05), of_normal(0.05), 0.94},
          {"log-normal tail", skewed, skewed, 0.94},
          {"log-normal, sigma 1", wild, wild, 0.94},
          {"two states 5 % apart", states(1.05, 0.5), states(1.05, 0.5), 0.94},
          {"two states, ten times", states(10, 0.5), states(10, 0.5), 0.94},
          {"two states, one seldom", states(1.5, 0.2), states(1.5, 0.2), 0.94},
          {"one disturbed before", one, quiet_one, 0.94},
          {"one disturbed after", quiet_one, one, 0.94}};
}

/// tests/truth/decide gives 20 000, with which the bars are strict; fewer have some more by chance.
int rows_of_cell() {
  constexpr int usual = 2000;
  const char* const rows = std::getenv("SIMULATED_ROWS");
  return rows == nullptr ? usual : std::atoi(rows);
}

/// Of so many rows, at most this share.
int at_most(double share, int rows) {
  constexpr int strict_from = 20'000;
  const double expected = share * rows;
  return static_cast<int>(rows >= strict_from ? expected : expected + 3 * std::sqrt(expected));
}

// No noise makes a change of 5 % the same, and none makes equal sides differ.
TEST(Simulation, MoreNoiseMakesNoCalmerVerdict) {
  const int rows = rows_of_cell();
  std::uint64_t seed = 100;
  for (const std::size_t processes : {7, 10, 20}) {
    for (const Cell& cell : cells_of(processes)) {
      const std::string what = cell.name + (" with " + std::to_string(processes));
      const Counts equal = trials(NoiseOfSides{&cell.before, &cell.after}, 1, processes, rows, ++seed);
      EXPECT_LE(equal.slower + equal.faster, at_most(0.002, rows)) << what;
      EXPECT_LE(rows - equal.covered, at_most(1 - cell.least_covered, rows)) << what;
      EXPECT_LE(equal.covered, 0.975 * rows) << what;
      for (const double factor : {1.05, 1 / 1.05, 2.0, 5.0}) {
        const Counts apart = trials(NoiseOfSides{&cell.before, &cell.after}, factor, processes, rows, ++seed);
        EXPECT_LE(apart.same, at_most(0.001, rows)) << what << " at " << factor;
        EXPECT_LE(factor > 1 ? apart.faster : apart.slower, at_most(0.001, rows)) << what << " at " << factor;
      }
    }
  }
}

TEST(Simulation, UsesThePowerThatTheFiguresHave) {
  const Noise one([](std::mt19937_64& engine) { return normal(engine, 0.01); });
  const Noise two([](std::mt19937_64& engine) { return normal(engine, 0.02); });
  constexpr int rows = 4000;
  EXPECT_NEAR(trials(one, 1.02, 10, rows, 31).slower, 0.65 * rows, 0.025 * rows);
  EXPECT_NEAR(trials(two, 1.05, 10, rows, 32).slower, 0.88 * rows, 0.02 * rows);
}

/// By row: the figures of 60 processes of tests/truth/cheap_rows.lua on a 2-core virtual machine on which others
/// compiled.
std::map<std::string, std::vector<double>> recorded_noise() {
  const std::filesystem::path file = std::filesystem::path(GPUBENCH_SOURCE_DIR) / "tests/core/compare/noise.csv";
  const auto lines = parse_csv(read_file(file), "noise.csv");
  std::map<std::string, std::vector<double>> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) rows[lines[i].at(0)].push_back(std::stod(lines[i].at(1)));
  return rows;
}

TEST(Simulation, EqualSidesWithRecordedNoiseAreSeldomCalledDifferent) {
  std::mt19937_64 engine(17);
  int compared = 0, called = 0;
  for (auto& [name, figures] : recorded_noise()) {
    ASSERT_GE(figures.size(), 14u) << name;
    for (int i = 0; i < 15; ++i, ++compared) {
      std::ranges::shuffle(figures, engine);
      std::vector<ProcessFigures> before, after;
      for (std::size_t k = 0; k < 7; ++k) before.push_back({figures[k]}), after.push_back({figures[k + 7]});
      Change change = measure_change(column_of("call_s"), before, after);
      judge_change(change);
      called += change.verdict == ChangeVerdict::worse || change.verdict == ChangeVerdict::better;
    }
  }
  EXPECT_EQ(compared, 600);
  EXPECT_LE(called, 3);
}

TEST(Simulation, QuietProcessesShowTwoPerCentAndThatNothingChanged) {
  const Counts counts = trials(quiet, 1.02, 10, 300, 12);
  EXPECT_GE(counts.slower, 285);
  EXPECT_EQ(counts.faster, 0);
  EXPECT_GE(trials(quiet, 1, 10, 300, 13).same, 285);
}

/// What the median of so many comparisons says of itself, as the report does.
double visible_in_the_median_row(const Noise& noise, std::size_t processes, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<double> visible;
  for (int i = 0; i < 100; ++i) {
    const Change change = measure_change(column_of("step_time_s"), simulated(noise, 1, processes, engine),
                                         simulated(noise, 1, processes, engine));
    visible.push_back(change.visible.value_or(4));
  }
  return median(visible);
}

// Where processes have states, the share jumps from few to all. Of a long tail, few processes show too little.
TEST(Simulation, TheChangeThatIsSaidToBeVisibleIsFound) {
  constexpr int count = 1000;
  std::uint64_t seed = 200;
  for (const std::size_t processes : {7, 10, 20}) {
    for (const Cell& cell : cells_of(processes)) {
      const std::string name = cell.name;
      if (name.starts_with("one disturbed")) continue;
      const double visible = visible_in_the_median_row(cell.before, processes, ++seed);
      if (visible > 3) continue;  // the report says that nothing can be seen
      const int found = trials(cell.before, 1 + visible, processes, count, ++seed).slower;
      const bool is_tail_of_few = name == "log-normal tail" && processes < 20;
      EXPECT_GE(found, (is_tail_of_few ? 0.75 : 0.90) * count) << name << " with " << processes << ": " << visible;
      if (name.starts_with("two states")) continue;
      EXPECT_LE(found, 0.99 * count) << name << " with " << processes << ": " << visible;
    }
  }
}

}  // namespace
}  // namespace gpubench
