#include "core/exec/plan_cache.h"

#include <gtest/gtest.h>
#include <memory>

namespace gpubench {
namespace {

std::unique_ptr<int> made(int key) {
  return std::make_unique<int>(key);
}

TEST(PlanCaches, KeepThoseThatWereUsedLast) {
  PlanCache<int, int> cache(3);
  for (const int key : {1, 2, 3, 1, 4}) EXPECT_EQ(*cache.get(key, made), key);
  int again = 0;
  for (const int key : {4, 1, 3, 2}) {
    cache.get(key, [&](int of) {
      ++again;
      return made(of);
    });
  }
  EXPECT_EQ(again, 1) << "only 2 had gone";
  EXPECT_EQ(cache.size(), 3u);
}

TEST(PlanCaches, APlanThatIsHeldLives) {
  PlanCache<int, int> cache(1);
  const std::shared_ptr<int> held = cache.get(1, made);
  cache.get(2, made);
  EXPECT_EQ(*held, 1);
  EXPECT_EQ(cache.plans().front().first, 2);
}

// As a traced function that calls itself does.
TEST(PlanCaches, AskedWhileAPlanIsMade) {
  PlanCache<int, int> cache(2);
  const auto outer = cache.get(1, [&](int key) {
    for (int other = 2; other < 6; ++other) cache.get(other, made);
    return made(key);
  });
  EXPECT_EQ(*outer, 1);
  EXPECT_EQ(cache.size(), 2u);
}

}  // namespace
}  // namespace gpubench
