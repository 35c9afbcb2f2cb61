#include "core/measure/pace.h"

#include <gtest/gtest.h>
#include <vector>

namespace gpubench {
namespace {

TEST(Pace, AProcessOfItsOwnDecidesEachStep) {
  const Agreement alone;
  Pace pace(alone);
  EXPECT_TRUE(pace.more(true));
  EXPECT_FALSE(pace.more(false));
}

TEST(Pace, TheFirstProcessDecidesForAll) {
  std::vector<std::int64_t> asked;
  std::vector<std::int64_t> said{2, 3, 0};
  const Agreement agreement = [&](std::int64_t own) {
    asked.push_back(own);
    return said[asked.size() - 1];
  };
  Pace pace(agreement);
  int steps = 0;
  while (pace.more(steps < 1)) ++steps;  // this one had enough after the first
  EXPECT_EQ(steps, 5);
  ASSERT_EQ(asked.size(), 3);
  EXPECT_EQ(asked[0], 1) << "nothing is known of the time of a step";
  EXPECT_EQ(asked[1], 0);
  EXPECT_EQ(asked[2], 0);
}

}  // namespace
}  // namespace gpubench
