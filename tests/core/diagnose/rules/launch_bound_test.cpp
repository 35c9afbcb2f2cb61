#include <gmock/gmock.h>

#include "tests/core/diagnose/row.h"

namespace gpubench::launch_bound_test {
namespace {

using support::judged;
using support::trained_row;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LaunchBound, FiresFromTheLimitOn) {
  EXPECT_FALSE(judged(launch_bound, trained_row({{"launch_share", 0.0299}})));
  const auto finding = judged(launch_bound, trained_row({{"launch_share", 0.03}}));
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->headline, "launch bound (batch too small): 3 % of the step");
  EXPECT_EQ(finding->remedies.front(), Remedy::larger_batch);
}

TEST(LaunchBound, TellsManySmallOperationsFromASmallBatch) {
  const auto eager = judged(launch_bound, trained_row({{"launch_share", 0.4}, {"execution", std::string("eager")}}));
  EXPECT_EQ(eager->kind, "many small operations");
  EXPECT_THAT(eager->remedies, ElementsAre(Remedy::graph, Remedy::larger_batch));
  Record loop = trained_row({{"launch_share", 0.4}});
  loop.set("execution", Cell{});
  EXPECT_EQ(judged(launch_bound, loop)->kind, "") << "what the steps are of is not known";
  loop.set("steps_of", std::string("loop"));
  EXPECT_EQ(judged(launch_bound, loop)->remedies.front(), Remedy::compiled_step);
}

TEST(LaunchBound, CountsWhatSmallKernelsLose) {
  // 1000 kernels in 9.5 ms: 9.5 µs each, above their arithmetic by 75 % of the step.
  const Record small = trained_row({{"kernels", std::int64_t{1000}}, {"mfu", 0.2}});
  const auto finding = judged(launch_bound, small);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.value, 0.01 + 0.75, 1e-12);
  EXPECT_EQ(finding->headline, "kernels too small (batch too small): 76 % of the step");
  EXPECT_THAT(finding->evidence, HasSubstr("1000 kernels take 9.5 µs each, 75 % of the step above"));
  // Above 20 µs a kernel is no longer small.
  EXPECT_FALSE(judged(launch_bound, trained_row({{"kernels", std::int64_t{474}}, {"mfu", 0.2}})));
  // Small kernels that move their bytes at the best rate lose nothing.
  Record busy = small;
  busy.set("bandwidth_share", 0.95);
  EXPECT_FALSE(judged(launch_bound, busy));
  // Each of four replicas has a quarter of the kernels.
  Record replicas = small;
  replicas.set("replicas", std::int64_t{4});
  EXPECT_FALSE(judged(launch_bound, replicas));
}

TEST(LaunchBound, TheTraceKnowsWhichKernelsAreSmall) {
  // Of 95 % in kernels, 40 % are in small ones; these need their part of the 19 % of arithmetic.
  Record row = trained_row({{"mfu", 0.19}, {"small_kernel_share", 0.4}});
  const auto finding = judged(launch_bound, row);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.value, 0.01 + 0.4 * (1 - 0.2), 1e-12);
  EXPECT_THAT(finding->evidence, HasSubstr("kernels below 20 µs run during 40 % of the step, 32 % of the step above"));
  // The mean of 9.5 µs would make all of them small.
  row.set("kernels", std::int64_t{1000});
  EXPECT_NEAR(judged(launch_bound, row)->gain.value, finding->gain.value, 1e-12);
  row.set("small_kernel_share", 0.0);
  EXPECT_FALSE(judged(launch_bound, row));
}

TEST(LaunchBound, IsSilentWithoutItsColumns) {
  Record row = trained_row({{"kernels", std::int64_t{1000}}});
  for (const char* column : {"launch_share", "compute_share"}) row.set(column, Cell{});
  EXPECT_FALSE(judged(launch_bound, row));
}

}  // namespace
}  // namespace gpubench::launch_bound_test
