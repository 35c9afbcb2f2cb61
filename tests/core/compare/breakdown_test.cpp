#include "core/compare/breakdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/compare/sides.h"

namespace gpubench {
namespace {

using ::testing::IsEmpty;

Side traced_side(const std::string& name, double step_s, double input, double compute) {
  Side side{.name = name, .processes = {}};
  for (int i = 0; i < 3; ++i)
    side.processes.push_back(process_with(
        name + std::to_string(i),
        {{"step_time_s", step_s}, {"input_wait_share", input}, {"compute_share", compute}, {"device_busy", compute}}));
  return side;
}

BreakdownChange change_between(const Side& before, const Side& after) {
  const std::vector<Side> sides{before, after};
  return breakdown_change(match_rows(sides).at(0), 1);
}

TEST(Breakdown, ClassesSayWhatEachAddsToAStep) {
  const BreakdownChange change = change_between(traced_side("a", 0.010, 0.1, 0.8), traced_side("b", 0.012, 0.25, 0.7));
  ASSERT_EQ(change.classes.size(), 2u) << "device_busy is no class";
  EXPECT_EQ(change.classes[0].name, "compute");
  EXPECT_NEAR(*change.classes[0].added_s, 0.0004, 1e-9);
  EXPECT_EQ(change.classes[1].name, "input wait");
  EXPECT_NEAR(*change.classes[1].added_s, 0.002, 1e-9);
  EXPECT_EQ(change.main_class_text(), "input wait: 2 ms of the 2 ms that a step takes longer");
}

TEST(Breakdown, AStepThatTakesLessNamesWhatWasSaved) {
  EXPECT_EQ(change_between(traced_side("a", 0.012, 0.25, 0.7), traced_side("b", 0.010, 0.1, 0.8)).main_class_text(),
            "input wait: 2 ms of the 2 ms that a step takes less");
}

TEST(Breakdown, AClassThatExplainsLittleIsNotNamed) {
  EXPECT_EQ(change_between(traced_side("a", 0.010, 0, 0.1), traced_side("b", 0.020, 0, 0.05)).main_class_text(), "");
}

TEST(Breakdown, RowsThatWereNotTracedHaveNone) {
  const BreakdownChange change =
      change_between(side_with("a", "step_time_s", {1, 2}), side_with("b", "step_time_s", {1, 2}));
  EXPECT_THAT(change.classes, IsEmpty());
  EXPECT_EQ(change.main_class_text(), "");
}

}  // namespace
}  // namespace gpubench
