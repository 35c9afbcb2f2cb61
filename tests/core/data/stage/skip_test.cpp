#include "core/data/stage/skip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/stage/batch.h"
#include "tests/core/data/reading.h"

namespace gpubench {
namespace {

TEST(Skip, LeavesOutTheFirstElements) {
  EXPECT_EQ(skip(numbers(10), 4)->size(), 6);
  EXPECT_EQ(read(skip(numbers(10), 4)), counting(4, 10));
  EXPECT_EQ(read(skip(opaque(numbers(10)), 4)), counting(4, 10));
  EXPECT_EQ(read(batch(skip(numbers(1000), 600), 32)), counting(600, 1000));
  EXPECT_EQ(read(batch(skip(opaque(numbers(10)), 7), 2)), counting(7, 10));
}

TEST(Skip, RefusesWhatLeavesNothing) {
  EXPECT_THAT([] { skip(numbers(3), 3); },
              testing::ThrowsMessage<Error>("skip: 3 elements of a dataset of 3 leave nothing; skip at most 2"));
  EXPECT_THAT([] { skip(numbers(3), -1); },
              testing::ThrowsMessage<Error>("skip: a count of -1; it cannot be negative"));
}

}  // namespace
}  // namespace gpubench
