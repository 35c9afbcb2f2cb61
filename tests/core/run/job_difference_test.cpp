#include "core/run/job_difference.h"

#include <gmock/gmock.h>
#include <utility>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::HasSubstr;

Record row_of(double step_time_s, double half) {
  Record row;
  row.set("steps", std::int64_t{200});
  row.set("step_time_s", step_time_s);
  row.set("step_time_low_s", step_time_s - half);
  row.set("step_time_high_s", step_time_s + half);
  row.set("input_wait_share", 0.5);
  return row;
}

Info job_with(double input_wait_s) {
  return Info::Fields{{"parts", Info::List{Info::Fields{{"part", "input_wait"}, {"time_s", input_wait_s}}}}};
}

Run run_of(std::vector<Record> rows, Info::List jobs) {
  Run run;
  run.directory = "results/train";
  run.records = std::move(rows);
  run.info.set("jobs", std::move(jobs));
  return run;
}

TEST(JobDifference, IsThatOfTheSlowestRankOnBothSides) {
  const auto before = run_of({row_of(0.01, 1e-4), row_of(0.02, 1e-4)}, {job_with(0.001), job_with(0.002)});
  const std::vector<Record> rows{row_of(0.03, 1e-4), row_of(0.01, 1e-4)};
  const TraceDifference difference = job_difference(before, rows, {job_with(0.009), job_with(0.001)});
  EXPECT_TRUE(difference.is_slower);
  EXPECT_NEAR(difference.step.added_s(), 0.01, 1e-12);
  ASSERT_EQ(difference.parts.size(), 1U);
  EXPECT_NEAR(difference.parts[0].added_s(), 0.007, 1e-12);
}

TEST(JobDifference, IsNoneWhereTheIntervalsMeet) {
  const std::vector<Record> rows{row_of(0.022, 0.003)};
  EXPECT_FALSE(job_difference(run_of({row_of(0.02, 1e-4)}, {}), rows, {}).is_slower);
}

TEST(JobDifference, NeedsAStepOnBothSides) {
  const std::vector<Record> rows{row_of(0.02, 1e-4)};
  EXPECT_ERROR(HasSubstr("watch: --against: the run train has no step to compare with"),
               job_difference(run_of({}, {}), rows, {}));
  EXPECT_ERROR(HasSubstr("watch: --against: this run has no step to compare"),
               job_difference(run_of(rows, {}), {}, {}));
}

}  // namespace
}  // namespace gpubench
