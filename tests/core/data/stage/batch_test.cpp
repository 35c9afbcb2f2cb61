#include "core/data/stage/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

class Batch : public testing::TestWithParam<bool> {
 protected:
  static DatasetPtr source(std::int64_t count) { return GetParam() ? numbers(count) : opaque(numbers(count)); }
  static std::vector<std::int64_t> sizes(const DatasetPtr& dataset) {
    std::vector<std::int64_t> found;
    const std::unique_ptr<Cursor> cursor = dataset->open();
    for (Element element; cursor->next(element);) found.push_back(element[1].shape()[0]);
    return found;
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, Batch, testing::Bool(), [](const auto& way) { return way.param ? "Rows" : "Elements"; });

TEST_P(Batch, KeepsOrderAndRemainder) {
  const DatasetPtr dataset = batch(source(10), 4);
  EXPECT_EQ(dataset->size(), 3);
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[?], float32[?, 2])");
  EXPECT_THAT(sizes(dataset), ElementsAre(4, 4, 2));
  EXPECT_EQ(read(dataset), counting(0, 10));
}

TEST_P(Batch, DropsTheRemainderWhenAsked) {
  const DatasetPtr dataset = batch(source(10), 4, true);
  EXPECT_EQ(dataset->size(), 2);
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[4], float32[4, 2])");
  EXPECT_THAT(sizes(dataset), ElementsAre(4, 4));
}

TEST_P(Batch, TypesAreFixedWhenAllBatchesAreFull) {
  EXPECT_TRUE(is_fixed(batch(source(12), 4)->element_types()));
  EXPECT_TRUE(is_fixed(batch(repeat(source(10)), 4)->element_types()));
  EXPECT_EQ(batch(repeat(source(10)), 4)->size(), endless);
}

TEST_P(Batch, MemoryIsAlignedAndUsedAgain) {
  const std::unique_ptr<Cursor> cursor = batch(repeat(source(10)), 4)->open();
  std::set<std::byte*> blocks;
  Element element;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(cursor->next(element));
    for (const HostTensor& tensor : element) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % HostTensor::alignment, 0U);
    }
    blocks.insert(element[0].data());
  }
  EXPECT_EQ(blocks.size(), 1U);
}

TEST_P(Batch, ABatchThatIsHeldStaysAsItIs) {
  const std::unique_ptr<Cursor> cursor = batch(source(8), 2)->open();
  Element first;
  cursor->next(first);
  const HostTensor held = first[0];
  first.clear();
  for (Element element; cursor->next(element);) continue;
  EXPECT_THAT(held.values<std::int64_t>(), ElementsAre(0, 1));
}

TEST_P(Batch, ABatchOutlivesItsCursor) {
  Element element;
  batch(source(8), 2)->open()->next(element);
  EXPECT_THAT(element[0].values<std::int64_t>(), ElementsAre(0, 1));
}

TEST_P(Batch, NestsAsInBatchesOfBatches) {
  const DatasetPtr dataset = batch(batch(source(8), 2, true), 2);
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[2, 2], float32[2, 2, 2])");
  EXPECT_EQ(read(dataset), counting(0, 8));
}

TEST_P(Batch, RefusesToStackUnequalShapes) {
  const std::unique_ptr<Cursor> cursor = batch(batch(source(5), 2), 3)->open();
  Element element;
  EXPECT_ERROR(
      "batch: an element has int64[1] where the ones before have int64[2]; elements that "
      "are stacked need equal shapes",
      cursor->next(element));
}

TEST_P(Batch, CountsWhatItProduced) {
  const std::unique_ptr<Cursor> cursor = batch(source(10), 4)->open();
  for (Element element; cursor->next(element);) continue;
  const std::vector<StageStatistics> stages = cursor->statistics();
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0].stage, "from_tensor_slices");
  EXPECT_EQ(stages[0].produced, 10);
  EXPECT_EQ(stages[1].stage, "batch");
  EXPECT_EQ(stages[1].produced, 3);
}

TEST(BatchOptions, RefusesWhatLeavesNothing) {
  EXPECT_ERROR(
      "batch: a size of 256 with drop_remainder leaves nothing of a dataset of 100 "
      "elements; use at most 100, or keep the remainder",
      batch(numbers(100), 256, true));
  EXPECT_ERROR("batch: a size of 0; at least 1 is needed", batch(numbers(100), 0));
  EXPECT_ERROR(
      "batch: gb.AUTOTUNE is no size of a batch: what fits depends on the model, for which "
      "gb.find_batch_size(model, dataset) finds it",
      batch(numbers(100), autotune));
}

TEST(Describe, NamesStagesAndSettings) {
  EXPECT_EQ(describe(*batch(shuffle(numbers(9), {.buffer = 5, .seed = 2}), 3, true)),
            "from_tensor_slices > shuffle(buffer=5 seed=2) > batch(size=3 drop_remainder)");
}

}  // namespace
}  // namespace gpubench
