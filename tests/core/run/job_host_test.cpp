#include "core/run/job_host.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

TEST(JobHost, NamesTheLargestPartAndThoseThatAreATenthOfIt) {
  Record row;
  set_host_cause(row,
                 {{HostCauseKind::python, 0.02, "train.py:3"},
                  {HostCauseKind::evaluation, 0.5, "in 2 of 40 steps"},
                  {HostCauseKind::callbacks, 0.1}},
                 0.1);
  EXPECT_EQ(to_text(row.get("host_cause_kind")), "evaluation");
  EXPECT_EQ(number_in(row.get("host_cause_share")), 0.5);
  EXPECT_EQ(to_text(row.get("host_cause")), "evaluation 50 ms, callbacks 10 ms a step; in 2 of 40 steps");
}

TEST(JobHost, HasNoCauseWhereAllPartsAreLittle) {
  Record row;
  set_host_cause(row, {{HostCauseKind::python, 0.004}}, 0.1);
  set_host_cause(row, {}, 0.1);
  EXPECT_FALSE(row.has("host_cause_kind"));
  EXPECT_FALSE(row.has("host_cause"));
}

TEST(JobHost, PartsBesideTheStepsAreThoseThatNoWindowRecords) {
  EXPECT_TRUE(is_beside({HostCauseKind::saving}));
  EXPECT_FALSE(is_beside({HostCauseKind::python}));
}

}  // namespace
}  // namespace gpubench
