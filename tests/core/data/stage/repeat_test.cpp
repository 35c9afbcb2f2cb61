#include "core/data/stage/repeat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/map/map.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

/// Knows its types but has no elements, and does not say so.
class Nothing final : public Transformation {
 public:
  using Transformation::Transformation;
  std::string_view stage() const override { return "nothing"; }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    std::unique_ptr<Cursor> cursor = source().open(epoch, options);
    for (Element element; cursor->next(element);) continue;
    return cursor;
  }
};

TEST(Repeat, GivesTheSourceSoManyTimes) {
  const DatasetPtr dataset = repeat(numbers(2), 3);
  EXPECT_EQ(dataset->size(), 6);
  EXPECT_THAT(read(dataset), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(read(repeat(opaque(numbers(2)), 3)), ElementsAre(0, 1, 0, 1, 0, 1));
}

TEST(Repeat, BatchesCrossRepetitions) {
  const DatasetPtr dataset = batch(repeat(numbers(3), 2), 4);
  EXPECT_EQ(dataset->size(), 2);
  EXPECT_THAT(read(dataset), ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(Repeat, ForEverEndsOnlyWithItsConsumer) {
  EXPECT_EQ(repeat(numbers(3))->size(), endless);
  EXPECT_EQ(read(take(repeat(numbers(3)), 1000)).size(), 1000U);
}

TEST(Repeat, EndsForGood) {
  const std::unique_ptr<Cursor> cursor = repeat(numbers(1), 2)->open();
  Element element;
  EXPECT_TRUE(cursor->next(element));
  EXPECT_TRUE(cursor->next(element));
  EXPECT_FALSE(cursor->next(element));
  EXPECT_FALSE(cursor->next(element));
}

TEST(Repeat, SumsUpWhatItsSourcesDid) {
  const std::unique_ptr<Cursor> cursor = batch(repeat(numbers(10), 3), 4)->open();
  EXPECT_EQ(cursor->skip(3), 3);
  EXPECT_EQ(read(*cursor).size(), 18U);
  const std::vector<StageStatistics> rows = cursor->statistics();
  EXPECT_EQ(rows[0].produced, 18);
  EXPECT_EQ(rows[1].produced, 18);
  EXPECT_EQ(rows[1].bytes, 18 * 16);
}

TEST(Repeat, RunsNothingForWhatIsPassedOver) {
  int runs = 0;
  const auto counting_runs = std::make_shared<Increment>(1, [&](const ElementBlock&) { ++runs; });
  const std::unique_ptr<Cursor> cursor = repeat(map(numbers(10), counting_runs), 5)->open();
  EXPECT_EQ(cursor->skip(47), 47);
  EXPECT_THAT(read(*cursor), ElementsAre(8, 9, 10));
  EXPECT_LE(runs, 10);
}

TEST(Repeat, RefusesAnEmptySource) {
  const std::unique_ptr<Cursor> cursor = repeat(std::make_shared<Nothing>(numbers(3)))->open();
  Element element;
  EXPECT_ERROR("repeat: the dataset is empty; there is nothing to repeat", cursor->next(element));
  EXPECT_ERROR("repeat: a count of 0; at least 1 is needed", repeat(numbers(1), 0));
}

}  // namespace
}  // namespace gpubench
