#include "core/data/cache/memory_budget.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

TEST(MemoryBudget, IsHalfOfWhatIsFreeUnlessALimitIsGiven) {
  const auto free = [] { return std::int64_t{1000} * mebibyte; };
  const MemoryBudget half(0, free), given(700 * mebibyte, free), too_much(2000 * mebibyte, free);
  EXPECT_EQ(half.bytes(), 500 * mebibyte);
  EXPECT_EQ(half.what(), "half of the free memory, 500 MiB");
  EXPECT_EQ(half.advice(), "give a limit, or cache in a file (cache(path))");
  EXPECT_EQ(given.what(), "the limit of 700 MiB");
  EXPECT_EQ(given.advice(), "raise the limit, or cache in a file (cache(path))");
  EXPECT_EQ(too_much.bytes(), 1000 * mebibyte);
  EXPECT_EQ(too_much.what(), "the free memory, 1000 MiB");
  EXPECT_EQ(too_much.advice(), "cache in a file (cache(path))");
}

TEST(MemoryBudget, EndsAtItsLimit) {
  MemoryBudget budget(64, [] { return 1000 * mebibyte; });
  EXPECT_TRUE(budget.take(60));
  EXPECT_FALSE(budget.take(5));
  EXPECT_TRUE(budget.take(4));
}

TEST(MemoryBudget, EndsWhereOthersHaveTakenTheMemory) {
  std::int64_t free = 1000 * mebibyte;
  MemoryBudget budget(900 * mebibyte, [&] { return free; });
  EXPECT_TRUE(budget.take(100 * mebibyte));
  free = 10 * mebibyte;
  EXPECT_TRUE(budget.take(1));  // looked at every 64 MiB
  EXPECT_FALSE(budget.take(100 * mebibyte));
  EXPECT_EQ(budget.what(), "the free memory, 200 MiB");
}

}  // namespace
}  // namespace gpubench
