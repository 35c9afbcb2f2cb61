// Into how many parts the indices of a gather's gradient are split.
#include <gtest/gtest.h>

#include "core/backend/cuda/indexing.h"

namespace gpubench::cuda {
namespace {

constexpr int multiprocessors = 100;

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
