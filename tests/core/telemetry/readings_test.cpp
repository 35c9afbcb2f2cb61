#include "core/telemetry/readings.h"

#include <array>
#include <gmock/gmock.h>
#include <limits>

#include "tests/support/allocations.h"

namespace gpubench {
namespace {

using ::testing::IsNan;
using namespace std::chrono_literals;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 2> columns = {"power_w", "energy_j"};

// Read at 0, 1, 3 and 4 s.
Readings readings_of(const std::array<double, 4>& power, const std::array<double, 4>& energy = {}) {
  Readings readings(columns, 4);
  const std::array times = {0s, 1s, 3s, 4s};
  for (std::size_t i = 0; i < power.size(); ++i) {
    const auto row = readings.add(Clock::time_point(times[i]));
    row[0] = power[i];
    row[1] = energy[i];
  }
  return readings;
}

TEST(Readings, MeanAndIntegralGoByTheTrapezoidalRule) {
  const Readings readings = readings_of({100, 200, 400, 0});
  EXPECT_DOUBLE_EQ(readings.duration().count(), 4);
  EXPECT_DOUBLE_EQ(readings.integral("power_w"), 150 + 600 + 200);
  EXPECT_DOUBLE_EQ(readings.mean("power_w"), 950.0 / 4);
  EXPECT_EQ(readings.highest("power_w"), 400);
  EXPECT_EQ(readings.lowest("power_w"), 0);
}

TEST(Readings, ReadingsThatWereNotTakenAreBridged) {
  const Readings readings = readings_of({nan_value, 200, nan_value, 400});
  EXPECT_DOUBLE_EQ(readings.integral("power_w"), 900);
  EXPECT_DOUBLE_EQ(readings.mean("power_w"), 300);
  EXPECT_EQ(readings.lowest("power_w"), 200);
  EXPECT_EQ(readings_of({nan_value, 7, nan_value, nan_value}).mean("power_w"), 7);
}

TEST(Readings, AmountsAndIntervalsLeaveOutTheTimeBefore) {
  const Readings readings = readings_of({}, {1000, 10, 20, 5});
  EXPECT_DOUBLE_EQ(readings.total("energy_j"), 35);
  EXPECT_DOUBLE_EQ(readings.mean_of_intervals("energy_j"), (10 * 1 + 20 * 2 + 5 * 1) / 4.0);
}

TEST(Readings, AnIntervalReachesBackToTheReadingBefore) {
  const Readings readings = readings_of({}, {nan_value, nan_value, 0.5, 0.9});
  EXPECT_DOUBLE_EQ(readings.mean_of_intervals("energy_j"), (0.5 * 3 + 0.9 * 1) / 4);
  EXPECT_THAT(readings.total("energy_j"), IsNan()) << "an amount is missing";
}

TEST(Readings, WithoutReadingsThereAreNoFigures) {
  const Readings none(columns, 4);
  const Readings unknown = readings_of({nan_value, nan_value, nan_value, nan_value});
  for (const Readings* readings : {&none, &unknown}) {
    for (const char* column : {"power_w", "no_such_column"}) {
      EXPECT_THAT(readings->mean(column), IsNan());
      EXPECT_THAT(readings->integral(column), IsNan());
      EXPECT_THAT(readings->mean_of_intervals(column), IsNan());
      EXPECT_THAT(readings->total(column), IsNan());
      EXPECT_THAT(readings->highest(column), IsNan());
      EXPECT_THAT(readings->lowest(column), IsNan());
      EXPECT_EQ(readings->any_bit(column), 0U);
    }
  }
  EXPECT_TRUE(none.has("power_w"));
  EXPECT_FALSE(none.has("no_such_column"));
  EXPECT_EQ(none.duration().count(), 0);
}

TEST(Readings, FlagsAddUp) {
  EXPECT_EQ(readings_of({4, 0, nan_value, 0x40}).any_bit("power_w"), 0x44U);
}

TEST(Readings, AddingAllocatesNothing) {
  Readings readings(columns, 100);
  EXPECT_EQ(support::count_allocations([&] {
              for (int i = 0; i < 100; ++i) readings.add(Clock::time_point(i * 1s))[0] = i;
            }),
            0);
}

}  // namespace
}  // namespace gpubench
