#include "core/data/source/range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/combine.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> all(const DatasetPtr& dataset) {
  std::vector<std::int64_t> found;
  const std::unique_ptr<Cursor> cursor = dataset->open();
  for (Element element; cursor->next(element);) {
    for (const std::int64_t number : element[0].values<std::int64_t>()) found.push_back(number);
  }
  return found;
}

TEST(Range, CountsUpAndDown) {
  EXPECT_THAT(all(range(0, 4)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(all(range(3, 10, 3)), ElementsAre(3, 6, 9));
  EXPECT_THAT(all(range(2, -3, -2)), ElementsAre(2, 0, -2));
  EXPECT_THAT(all(batch(range(0, 3), 2)), ElementsAre(0, 1, 2));
  EXPECT_EQ(range(3, 10, 3)->size(), 3);
  EXPECT_EQ(describe(*range(3, 10, 3)), "range(start=3 count=3 step=3)");
}

TEST(Range, ReachesTheLimitsOfItsType) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(all(range(endless - 2, least, least)), ElementsAre(endless - 2, -3));
  EXPECT_EQ(range(0, endless)->size(), endless);
  const std::unique_ptr<Cursor> cursor = range(5, endless, 2)->open();
  EXPECT_EQ(cursor->skip(1000), 1000);
  Element element;
  ASSERT_TRUE(cursor->next(element));
  EXPECT_EQ(element[0].values<std::int64_t>()[0], 2005);
}

TEST(Range, EnumeratesAnything) {
  const DatasetPtr dataset = enumerate(numbers(3), 10);
  EXPECT_EQ(dataset->size(), 3);
  EXPECT_EQ(dataset->element_types().size(), 3U);
  EXPECT_THAT(all(dataset), ElementsAre(10, 11, 12));
}

TEST(Range, MayBeEmptyAndNeedsAStep) {
  EXPECT_ERROR("range: a step of 0 never gets from 0 to 5", range(0, 5, 0));
  EXPECT_EQ(range(5, 5)->size(), 0);
  EXPECT_THAT(all(range(5, 2)), ElementsAre());
  EXPECT_THAT(all(range(2, 5, -1)), ElementsAre());
}

TEST(Range, EndsInAnErrorWhereInt64Does) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto cursor = enumerate(range(0, 5), most - 1)->open();
  Element element;
  for (const std::int64_t number : {most - 1, most}) {
    ASSERT_TRUE(cursor->next(element));
    EXPECT_EQ(element[0].values<std::int64_t>()[0], number);
  }
  EXPECT_ERROR("range: the next number is outside of int64", cursor->next(element));
}

}  // namespace
}  // namespace gpubench
