#include "core/fleet/usual.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "core/fleet/siblings.h"

namespace gpubench {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

TEST(UsualValues, AMachineIsComparedWithTheOthers) {
  const std::vector<double> times = {1.00, 1.01, 0.99, 1.10, none};
  const UsualValues usual(times, true);
  EXPECT_EQ(usual.count(), 4u);
  EXPECT_DOUBLE_EQ(usual.center(), 1.005);
  const Distance slow = usual.distance(3, {});
  EXPECT_NEAR(slow.worse, std::log(1.10), 1e-12) << "of 0.99, 1.00, 1.01";
  // The quantile of t with 2 degrees of freedom, times the standard deviation of the three others.
  EXPECT_NEAR(slow.deviations, slow.worse / (7.23 * 0.01), 0.01);
  EXPECT_LT(slow.alone, slow.deviations);
  EXPECT_TRUE(std::isnan(usual.distance(4, {}).worse));
}

TEST(UsualValues, LessOfARateIsWorse) {
  const std::vector<double> rates = {100, 101, 99, 50};
  const UsualValues usual(rates, false);
  EXPECT_NEAR(usual.distance(3, {}).worse, std::log(2), 0.01);
  EXPECT_LT(usual.distance(1, {}).worse, 0);
}

TEST(UsualValues, EqualMachinesAreHalfAPercentApart) {
  const std::vector<double> times(200, 1.0);
  EXPECT_NEAR(UsualValues(times, true).distance(0, {}).worse, 0, 1e-12);
  std::vector<double> one_off = times;
  one_off[0] = std::exp(0.05);
  EXPECT_NEAR(UsualValues(one_off, true).distance(0, {}).deviations, 10, 0.2);
}

TEST(UsualValues, FiguresBelowZeroAreComparedByTheirMedian) {
  const std::vector<double> values = {-1.0, -1.01, -0.99, -1.5};
  EXPECT_NEAR(UsualValues(values, false).distance(3, {}).worse, 0.5, 0.02);
  const std::vector<double> zeros = {0, 0, 0, 5};
  EXPECT_EQ(UsualValues(zeros, true).count(), 0u) << "there is no share of nothing";
}

TEST(UsualValues, FewMachinesGoByOtherFiguresToo) {
  const std::vector<double> times = {1.000, 1.001, 0.999, 1.10};
  const UsualValues usual(times, true);
  const Distance by_itself = usual.distance(3, {}), with_others = usual.distance(3, {.count = 50, .spread = 0.005});
  EXPECT_GT(with_others.alone, by_itself.alone) << "equally far apart in 50 figures is no chance";
  EXPECT_LT(usual.distance(3, {.count = 50, .spread = 0.05}).alone, with_others.alone);
}

TEST(UsualValues, OneBadSiblingHidesNoOther) {
  const std::vector<double> times = {1.000, 1.002, 0.999, 1.001, 0.998, 1.5, 1.6};
  EXPECT_GT(UsualValues(times, true).distance(6, {}).deviations, 20);
}

TEST(StandOuts, SixMachinesWithOneFigureSufficeForHalfTheSpeed) {
  Siblings all{.machines = 6, .nights = 9};
  SiblingFigure figure;
  for (std::size_t night = 0; night < all.nights; ++night)
    for (const double one : {1.000, 1.004, 0.997, 1.002, 0.999, 2.0}) figure.values.push_back(one);
  all.figures.push_back(figure);
  const StandOuts found(all);
  EXPECT_TRUE(found.signs(8, 5).any());
  for (std::size_t machine = 0; machine < 5; ++machine) EXPECT_FALSE(found.signs(8, machine).any());
}

TEST(StandOuts, ThreeMachinesAreTooFew) {
  Siblings three{.machines = 3, .nights = 1, .figures = {{.values = {1, 1, 9}}}};
  const StandOuts found(three);
  EXPECT_FALSE(found.is_judged(0, 2));
  EXPECT_FALSE(found.signs(0, 2).any());
}

TEST(StandOuts, ATimeAndTheRateThatIsMadeOfItAreOneVote) {
  Siblings all{.machines = 20, .nights = 1};
  for (std::size_t f = 0; f < 4; ++f) {
    SiblingFigure figure{.row = f / 2, .values = std::vector<double>(20, 1.0)};
    figure.values[7] = 1.1;
    all.figures.push_back(figure);
  }
  EXPECT_FALSE(StandOuts(all).signs(0, 7).any()) << "two rows";
  for (std::size_t f = 0; f < 4; ++f) all.figures[f].row = f;
  EXPECT_TRUE(StandOuts(all).signs(0, 7).has(StandOutSign::broad));
}

}  // namespace
}  // namespace gpubench
