#include "core/graph/memory_plan.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace gpubench {
namespace {

TEST(MemoryPlan, BuffersThatNeverMeetShareMemory) {
  const std::vector<Lifetime> chain{{0, 1, 128}, {1, 2, 64}, {2, 3, 128}};
  const MemoryPlan plan = plan_memory(chain);
  EXPECT_EQ(plan.total, 192U);
  EXPECT_EQ(plan.lower_bound, 192U);
}

TEST(MemoryPlan, NothingNeedsNothing) {
  EXPECT_EQ(plan_memory({}).total, 0U);
}

TEST(MemoryPlan, LivingBuffersNeverOverlapAndTheTotalStaysNearTheBound) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 60; ++i) {
      const int first = static_cast<int>(random() % 50);
      lifetimes.push_back({first, first + static_cast<int>(random() % 10), 1 + random() % 100000});
    }
    const MemoryPlan plan = plan_memory(lifetimes);
    for (std::size_t a = 0; a < lifetimes.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0U);
      EXPECT_LE(plan.offsets[a] + lifetimes[a].bytes, plan.total);
      for (std::size_t b = 0; b < a; ++b) {
        if (lifetimes[a].first > lifetimes[b].last || lifetimes[b].first > lifetimes[a].last) continue;
        EXPECT_TRUE(plan.offsets[a] + lifetimes[a].bytes <= plan.offsets[b] ||
                    plan.offsets[b] + lifetimes[b].bytes <= plan.offsets[a]);
      }
    }
    EXPECT_GE(plan.total, plan.lower_bound);
    EXPECT_LE(static_cast<double>(plan.total), 1.1 * static_cast<double>(plan.lower_bound));
  }
}

TEST(MemoryPlan, LooksForBetterPlacesThanTheLowest) {
  // Two large buffers of one step each around a pair that meets: by size alone, all lie in a tower.
  std::vector<Lifetime> lifetimes{{0, 0, 1408}, {0, 13, 320}, {0, 15, 64}, {11, 15, 320}, {12, 74, 64}, {15, 15, 1408}};
  for (int part = 1; part < 4; ++part) {
    const int at = 16 + 19 * (part - 1);
    for (const Lifetime& lifetime : {Lifetime{at, at, 1408}, Lifetime{at, at + 14, 320}, Lifetime{at, at + 17, 64},
                                     Lifetime{at + 12, at + 17, 320}, Lifetime{at + 17, at + 17, 1408}}) {
      lifetimes.push_back(lifetime);
    }
  }
  const MemoryPlan plan = plan_memory(lifetimes);
  EXPECT_EQ(plan.total, plan.lower_bound);
}

TEST(MemoryPlan, EqualBuffersHaveEqualPlans) {
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < 40; ++i) lifetimes.push_back({i, i + i % 7, static_cast<std::size_t>(1000 + 997 * i % 5000)});
  EXPECT_EQ(plan_memory(lifetimes).offsets, plan_memory(lifetimes).offsets);
}

}  // namespace
}  // namespace gpubench
