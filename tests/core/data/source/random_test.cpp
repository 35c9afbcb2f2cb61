#include "core/data/source/random.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/data/stage/by_position.h"

namespace gpubench {
namespace {

std::vector<std::int64_t> first_numbers(const DatasetPtr& dataset, std::int64_t count, std::uint64_t epoch = 0) {
  std::vector<std::int64_t> found;
  const std::unique_ptr<Cursor> cursor = take(dataset, count)->open(epoch);
  for (Element element; cursor->next(element);) found.push_back(element.front().values<std::int64_t>()[0]);
  return found;
}

TEST(Random, NumbersFollowTheSeed) {
  const std::vector<std::int64_t> found = first_numbers(random_numbers({.seed = 1}), 1000);
  EXPECT_EQ(first_numbers(random_numbers({.seed = 1}), 1000, 3), found);
  EXPECT_NE(first_numbers(random_numbers({.seed = 2}), 1000), found);
  EXPECT_NE(first_numbers(random_numbers({.seed = 1, .rerandomize_each_iteration = true}), 1000, 3), found);
  constexpr std::int64_t end = std::int64_t{1} << 32;
  EXPECT_GE(*std::ranges::min_element(found), 0);
  EXPECT_LT(*std::ranges::max_element(found), end);
  EXPECT_GT(*std::ranges::max_element(found), end / 2);
  EXPECT_EQ(random_numbers({})->size(), endless);
}

TEST(Random, ChoicesFollowTheWeights) {
  const std::vector<std::int64_t> found = first_numbers(random_choices({0, 2, 0, 6, 0}, {.seed = 1}), 8000);
  EXPECT_EQ(std::ranges::count(found, 1) + std::ranges::count(found, 3), 8000);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(found, 3)), 6000, 300);
  EXPECT_THAT(first_numbers(random_choices({1}, {}), 3), testing::ElementsAre(0, 0, 0));
}

}  // namespace
}  // namespace gpubench
