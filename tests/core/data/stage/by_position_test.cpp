#include "core/data/stage/by_position.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/stage/batch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

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

TEST(Take, OfNoneIsEmptyAndOfMinusOneIsAll) {
  EXPECT_EQ(take(numbers(3), 0)->size(), 0);
  EXPECT_EQ(read(take(numbers(3), 0)), counting(0, 0));
  EXPECT_EQ(read(batch(take(opaque(numbers(3)), 0), 2)), counting(0, 0));
  EXPECT_EQ(read(take(numbers(3), -1)), counting(0, 3));
  EXPECT_ERROR("take: a count of -2; 0 and more are possible, and -1 for all", take(numbers(3), -2));
}

TEST(Skip, LeavesOutTheFirstElements) {
  EXPECT_EQ(skip(numbers(10), 4)->size(), 6);
  EXPECT_EQ(read(skip(numbers(10), 4)), counting(4, 10));
  EXPECT_EQ(read(skip(opaque(numbers(10)), 4)), counting(4, 10));
  EXPECT_EQ(read(batch(skip(numbers(1000), 600), 32)), counting(600, 1000));
  EXPECT_EQ(read(batch(skip(opaque(numbers(10)), 7), 2)), counting(7, 10));
}

TEST(Skip, OfAllIsEmpty) {
  EXPECT_EQ(skip(numbers(3), 3)->size(), 0);
  EXPECT_EQ(read(skip(numbers(3), 9)), counting(0, 0));
  EXPECT_EQ(read(skip(opaque(numbers(3)), 9)), counting(0, 0));
  EXPECT_ERROR("skip: a count of -1; 0 and more are possible", skip(numbers(3), -1));
}

using testing::ElementsAre;

TEST(Shard, GivesEverySoManyth) {
  for (const DatasetPtr& source : {numbers(10), opaque(numbers(10))}) {
    EXPECT_THAT(read(shard(source, 3, 0)), ElementsAre(0, 3, 6, 9));
    EXPECT_THAT(read(shard(source, 3, 1)), ElementsAre(1, 4, 7));
    EXPECT_THAT(read(batch(shard(source, 3, 2), 2)), ElementsAre(2, 5, 8));
    EXPECT_EQ(read(shard(source, 1, 0)), counting(0, 10));
  }
  EXPECT_EQ(shard(numbers(10), 3, 0)->size(), 4);
  EXPECT_EQ(shard(numbers(10), 3, 1)->size(), 3);
  EXPECT_EQ(describe(*shard(numbers(10), 3, 1)), "from_tensor_slices > shard(count=3 index=1)");
}

TEST(Shard, RowsStayRows) {
  EXPECT_FALSE(shard(numbers(10), 3, 0)->open()->tables().empty());
  EXPECT_THAT(read(shuffle(shard(numbers(10), 3, 1), {.buffer = 8})), testing::UnorderedElementsAre(1, 4, 7));
}

TEST(Shard, PassesOverWholeRounds) {
  const std::unique_ptr<Cursor> cursor = shard(repeat(numbers(7)), 2, 1)->open();
  EXPECT_EQ(cursor->skip(3), 3);  // 1, 3, 5
  Element element;
  ASSERT_TRUE(cursor->next(element));
  EXPECT_EQ(element[0].values<std::int64_t>()[0], 0);  // element 7
  EXPECT_EQ(shard(numbers(7), 2, 1)->open()->skip(100), 3);
}

TEST(Shard, RefusesWhatIsNoShard) {
  EXPECT_ERROR("shard: a count of 0; at least 1 is needed", shard(numbers(3), 0, 0));
  EXPECT_ERROR("shard: index 2 of 2 shards; 0 to 1 are possible", shard(numbers(3), 2, 2));
  EXPECT_ERROR("shard: shard 3 of 4 gets nothing of a dataset of 3 elements", shard(numbers(3), 4, 3));
}

}  // namespace
}  // namespace gpubench
