#include "core/data/stage/take.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/stage/batch.h"
#include "tests/core/data/reading.h"

namespace gpubench {
namespace {

TEST(Take, GivesTheFirstElements) {
  EXPECT_EQ(take(numbers(10), 4)->size(), 4);
  EXPECT_EQ(take(numbers(3), 4)->size(), 3);
  EXPECT_EQ(read(take(numbers(10), 4)), counting(0, 4));
  EXPECT_EQ(read(take(opaque(numbers(10)), 4)), counting(0, 4));
  EXPECT_EQ(read(take(numbers(3), 4)), counting(0, 3));
  EXPECT_EQ(read(batch(take(numbers(10), 5), 2)), counting(0, 5));
  EXPECT_EQ(read(batch(take(opaque(numbers(10)), 5), 2)), counting(0, 5));
}

TEST(Take, RefusesNothing) {
  EXPECT_THAT([] { take(numbers(3), 0); }, testing::ThrowsMessage<Error>("take: a count of 0; at least 1 is needed"));
}

}  // namespace
}  // namespace gpubench
