#include "core/run/point_rounds.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "core/results/step_classes.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t ten = 10;

double number(const Record& row, std::string_view column) {
  return number_in(row.get(column)).value_or(NAN);
}

std::string text(const Record& row, std::string_view column) {
  return to_text(row.get(column));
}

/// Rounds of a point with one row each.
class Rounds {
 public:
  explicit Rounds(std::set<std::string, std::less<>> with_interval = {}) : sweep_{{}, {}, std::move(with_interval)} {}
  /// `lost_share`: what other programs took.
  void add(Record row, double lost_share = 0) {
    if (lost_share > 0) row.set("cpu_lost_share", lost_share);
    rounds_.add(PointCall({{std::move(row)}}, {}), 1.5);
  }
  Record merged(std::int64_t planned) const { return rounds_.merged(planned).at(0); }
  const PointRounds& rounds() const { return rounds_; }

 private:
  SweepColumns sweep_;
  PointRounds rounds_{1, sweep_};
};

/// What kernels and exchanges leave of a step goes to host and launch, in turn.
Record step(int round, double compute, double communication) {
  const double left = 1 - compute - communication;
  return {{"compute_share", compute},
          {"communication_share", communication},
          {"device_busy", compute + communication},
          {"host_share", round % 2 == 0 ? left : 0.0},
          {"launch_share", round % 2 == 0 ? 0.0 : left},
          {"other_share", 0.0}};
}

TEST(PointRounds, SharesOfAStepSumTo1AlthoughEachIsAMedian) {
  Rounds rounds({"compute_share"});
  int round = 0;
  for (const double compute : {0.9, 0.9, 0.9, 0.2, 0.2, 0.2, 0.6}) rounds.add(step(++round, compute, 0));
  const Record row = rounds.merged(7);
  EXPECT_NEAR(number(row, "compute_share") + number(row, "host_share") + number(row, "launch_share"), 1, 1e-9);
  EXPECT_LE(number(row, "compute_low_share"), number(row, "compute_share"));
  EXPECT_LE(number(row, "compute_share"), number(row, "compute_high_share"));
}

TEST(PointRounds, EveryClassOfAStepIsPartOfThatSum) {
  Rounds rounds;
  for (std::size_t round = 1; round <= 7; ++round) {
    Record row;
    double left = 1;
    for (std::size_t place = 1; place <= step_classes.size(); ++place) {
      const double part =
          place == step_classes.size() ? left : left * static_cast<double>((round * 37 + place * 61) % 10) / 20;
      row.set(step_classes.at(place - 1).column, part);
      left -= part;
    }
    rounds.add(row);
  }
  const Record row = rounds.merged(7);
  double sum = 0;
  for (const StepClass& one : step_classes) sum += number(row, one.column);
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(PointRounds, TheDeviceIsNeverLessBusyThanItsKernelsTake) {
  Rounds rounds({"compute_share", "device_busy"});
  int round = 0;
  for (const double compute : {0.9, 0.85, 0.8, 0.4, 0.3, 0.35, 0.6}) rounds.add(step(++round, compute, 0.05));
  const Record row = rounds.merged(7);
  EXPECT_NE(number(row, "compute_share"), 0.6) << "the shares were divided by their sum";
  EXPECT_NEAR(number(row, "device_busy"), number(row, "compute_share") + number(row, "communication_share"), 1e-9);
  EXPECT_LE(number(row, "device_busy"), 1);
}

TEST(PointRounds, AShareAloneStaysAsItWasMeasured) {
  Rounds rounds;
  for (int round = 1; round <= 7; ++round) rounds.add({{"input_wait_share", round / 10.0}});
  EXPECT_EQ(rounds.merged(7).get("input_wait_share"), Cell(0.4));
}

TEST(PointRounds, AFigureThatIsNoNumberInOneRoundIsNoneOfTheRow) {
  for (const double value : {double{NAN}, double{INFINITY}}) {
    Rounds rounds({"loss"});
    for (int round = 1; round <= 7; ++round) rounds.add({{"loss", round == 5 ? value : 0.5}, {"step_time_s", 1.0}});
    const Record row = rounds.merged(7);
    EXPECT_FALSE(std::isfinite(number(row, "loss")));
    EXPECT_THAT(text(row, "detail"), HasSubstr(std::isnan(value) ? "loss is NaN" : "loss is infinite"));
    EXPECT_EQ(row.get("step_time_s"), Cell(1.0));
  }
}

Record work(std::int64_t round) {
  return {{"work_s", round},
          {"steps", ten},
          {"replicas", std::int64_t{2}},
          {"test_accuracy", static_cast<double>(round) / 10}};
}

TEST(PointRounds, DisturbedRoundsDoNotCount) {
  Rounds rounds({"work_s", "test_accuracy"});
  for (std::int64_t round = 1; round <= 8; ++round) {
    Record row = work(round);
    if (round == 3) row.set("work_s", std::int64_t{100});
    rounds.add(row, round == 3 ? 0.3 : 0);
  }
  const Record row = rounds.merged(8);
  EXPECT_EQ(row.get("work_s"), Cell(std::int64_t{5}));
  EXPECT_EQ(row.get("work_low_s"), Cell(std::int64_t{1}));
  EXPECT_EQ(row.get("work_high_s"), Cell(std::int64_t{8}));
  EXPECT_EQ(row.get("steps"), Cell(8 * ten));
  EXPECT_EQ(row.get("replicas"), Cell(std::int64_t{2}));
  EXPECT_EQ(row.get("rounds"), Cell(std::int64_t{8}));
  EXPECT_EQ(row.get("point_time_s"), Cell(1.5));
  EXPECT_EQ(row.get("test_accuracy"), Cell(0.45));
  EXPECT_EQ(row.get("test_accuracy_high"), Cell(0.8));
  EXPECT_FALSE(row.has("quality"));
  const std::vector<RowOfRound> measured = rounds.rounds().rounds_of(0);
  EXPECT_FALSE(measured[2].counts);
  EXPECT_EQ(measured[2].row.get("work_s"), Cell(std::int64_t{100}));
  EXPECT_TRUE(measured[3].counts);
  EXPECT_EQ(measured[3].row.get("work_s"), Cell(std::int64_t{4}));
  EXPECT_EQ(rounds.rounds().calm(), 7);
  EXPECT_EQ(rounds.rounds().worst_lost_share(), 0.3);
}

TEST(PointRounds, TooFewThatCountLeaveTheRowUnreliable) {
  Rounds rounds;
  for (std::int64_t round = 1; round <= 8; ++round) rounds.add(work(round), round >= 3 && round <= 5 ? 0.3 : 0);
  const Record row = rounds.merged(8);
  EXPECT_EQ(
      text(row, "quality"),
      "unreliable: the times of 5 of 8 rounds count, 6 are needed: other programs took 30 % of the processor time "
      "that it wanted");
  EXPECT_EQ(text(row, "doubt"), "busy");
}

TEST(PointRounds, ARunThatEndsBetweenRoundsLeavesTheRowUnfinished) {
  Rounds rounds;
  for (std::int64_t round = 1; round <= 3; ++round) rounds.add(work(round));
  const Record row = rounds.merged(9);
  EXPECT_EQ(text(row, "doubt"), "unfinished");
  EXPECT_EQ(text(row, "quality"), "unreliable: the times of 3 of 9 rounds count, 6 are needed");
  EXPECT_EQ(rounds.rounds().worst_lost_share(), 0);
}

TEST(PointRounds, OneRoundIsItsRow) {
  Rounds rounds({"work_s"});
  rounds.add({{"batch_size", std::int64_t{32}}, {"step_time_s", 0.01}, {"examples_per_s", 1600.0}, {"work_s", 1.0}});
  const Record row = rounds.merged(1);
  EXPECT_EQ(row.get("rounds"), Cell(std::int64_t{1}));
  EXPECT_FALSE(row.has("work_low_s"));
  EXPECT_EQ(text(row, "detail"), "the mean step takes 2.0 times as long as the median");
  EXPECT_EQ(text(rounds.rounds().merged(9, "too long").at(0), "quality"), "unreliable: too long");
}

TEST(PointRounds, ALaterCallThatFailsIsWhatBecameOfThePoint) {
  Rounds rounds;
  rounds.add(work(1));
  rounds.add({{"status", std::string("error")}, {"detail", std::string("broken")}});
  EXPECT_FALSE(rounds.rounds().failed().empty());
  EXPECT_EQ(text(rounds.merged(9), "detail"), "in round 2: broken");
  EXPECT_TRUE(rounds.rounds().rounds_of(0).empty());

  const SweepColumns sweep;
  PointRounds other(1, sweep);
  other.add(PointCall({{work(1)}}, {}), 1);
  other.add(PointCall({{work(1)}, {work(2)}}, {}), 2);
  EXPECT_EQ(text(other.merged(9).at(0), "detail"),
            "run returned 1 row in round 1 and 2 rows in round 2; every call must return as many");
}

TEST(PointRounds, ColumnsOfTheScriptAreOfTheKindThatItSays) {
  const SweepColumns sweep{{"n"}, {{"parts", {.name = "parts", .kind = Kind::counted}}}, {}};
  EXPECT_EQ(sweep.kind_of("parts"), Kind::counted);
  EXPECT_FALSE(sweep.is_disturbed("parts"));
  EXPECT_TRUE(sweep.is_disturbed("other"));
  PointRounds rounds(1, sweep);
  rounds.add(PointCall({{{{"n", std::int64_t{3}}, {"parts", std::int64_t{4}}, {"cpu_lost_share", 0.5}}}}, {}), 1);
  EXPECT_FALSE(rounds.merged(1).at(0).has("quality")) << "no figure that a busy machine changes";
}

}  // namespace
}  // namespace gpubench
