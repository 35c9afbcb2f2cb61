// Which launches a reduction becomes on a GPU with 100 multiprocessors, and into how many parts the indices of a
// gather's gradient are split.
#include "core/backend/cuda/reduce_plan.h"

#include <gtest/gtest.h>

namespace gpubench::cuda {
namespace {

constexpr int multiprocessors = 100;

std::vector<ReduceStep> steps(const ReducePass& pass, bool may_pack = true) {
  return reduce_steps(pass, may_pack, multiprocessors);
}

TEST(ReducePlanTest, ShortRowsTakeNoMoreLanesThanTheyHaveElements) {
  const ReduceStep classes = steps({4096, 10, 1})[0], tokens = steps({4096, 1000, 1})[0];
  EXPECT_EQ(classes.by, ReduceBy::lanes);
  EXPECT_EQ(classes.width, 16);
  EXPECT_EQ(tokens.by, ReduceBy::lanes);
  EXPECT_EQ(tokens.width, 32);
}

TEST(ReducePlanTest, ManyLongRowsTakeABlockEach) {
  const std::vector<ReduceStep> plan = steps({4096, 50000, 1});
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].by, ReduceBy::blocks);
  EXPECT_EQ(plan[0].width, 1);
  EXPECT_EQ(plan[0].parts, 1);
  EXPECT_TRUE(plan[0].packed);
}

TEST(ReducePlanTest, OneLongRowIsSharedByAllMultiprocessors) {
  const std::vector<ReduceStep> plan = steps({1, 100'000'000, 1});
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_GE(plan[0].parts, multiprocessors);
  EXPECT_EQ(results_of(plan[0]), plan[0].parts);
  EXPECT_EQ(plan[1].extent, plan[0].parts);
  EXPECT_EQ(results_of(plan[1]), 1);
}

TEST(ReducePlanTest, ABatchOfChannelsIsReadInTilesOfColumns) {
  const std::vector<ReduceStep> plan = steps({1, 65536, 256});
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[0].by, ReduceBy::blocks);
  EXPECT_EQ(plan[0].width, 32);
  EXPECT_TRUE(plan[0].packed);
  EXPECT_GE(plan[0].parts * 256 / 4 / 32, multiprocessors);
  EXPECT_EQ(plan[1].extent, plan[0].parts);
  EXPECT_EQ(plan[1].after, 256);
}

TEST(ReducePlanTest, FewColumnsMakeANarrowTile) {
  const ReduceStep step = steps({1, 65536, 7})[0];
  EXPECT_EQ(step.width, 8);
  EXPECT_FALSE(step.packed);
}

TEST(ReducePlanTest, PacksNeedATypeThatHasThemAndAMultipleOfFour) {
  EXPECT_FALSE(steps({1, 65536, 256}, false)[0].packed);
  EXPECT_FALSE(steps({1, 65537, 1})[0].packed);
}

TEST(ReducePlanTest, AFewTermsAreLeftToOneThread) {
  EXPECT_EQ(steps({64, 4, 32})[0].by, ReduceBy::threads);
}

TEST(ReducePlanTest, NothingIsOneStep) {
  EXPECT_EQ(steps({0, 50000, 1}).size(), 1U);
  EXPECT_EQ(steps({1, 0, 3}).size(), 1U);
  EXPECT_EQ(steps({5, 0, 1}).size(), 1U);
}

TEST(GatherGradientTest, ATableThatFillsTheGpuIsNotSplit) {
  EXPECT_EQ(gather_gradient_parts(8192, 50000, 512, multiprocessors), 1);
}

TEST(GatherGradientTest, ManyIndicesOfASmallTableAreSplit) {
  EXPECT_EQ(gather_gradient_parts(1'000'000, 32, 32, multiprocessors), 400);
}

TEST(GatherGradientTest, FewIndicesAreNotSplit) {
  EXPECT_EQ(gather_gradient_parts(1000, 32, 32, multiprocessors), 1);
  EXPECT_EQ(gather_gradient_parts(0, 0, 0, multiprocessors), 1);
}

}  // namespace
}  // namespace gpubench::cuda
