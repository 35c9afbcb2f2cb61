#include "core/data/stage/padded_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/stage/batch.h"
#include "core/data/stage/combine.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/texts.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

std::vector<Element> all_batches(const DatasetPtr& dataset) {
  std::vector<Element> found;
  const std::unique_ptr<Cursor> cursor = dataset->open();
  for (Element element; cursor->next(element);) found.push_back(element);
  return found;
}

TEST(PaddedBatch, PadsToTheLargestOfTheBatch) {
  const DatasetPtr dataset = padded_batch(ragged(5), {.size = 3, .values = {9}});
  EXPECT_EQ(to_string(dataset->element_types()), "(uint8[?, ?])");
  EXPECT_EQ(dataset->size(), 2);
  const std::vector<Element> batches = all_batches(dataset);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_THAT(batches[0][0].shape(), ElementsAre(3, 3));
  EXPECT_THAT(batches[0][0].values<std::uint8_t>(), ElementsAre(0, 9, 9, 1, 1, 9, 2, 2, 2));
  EXPECT_THAT(batches[1][0].shape(), ElementsAre(2, 4));
  EXPECT_THAT(batches[1][0].values<std::uint8_t>(), ElementsAre(3, 3, 3, 3, 4, 9, 9, 9));
}

TEST(PaddedBatch, PadsToGivenExtents) {
  const DatasetPtr dataset = padded_batch(ragged(4), {.size = 2, .shapes = {{5}}, .drop_remainder = true});
  EXPECT_EQ(to_string(dataset->element_types()), "(uint8[2, 5])");
  EXPECT_THAT(all_batches(dataset)[1][0].values<std::uint8_t>(), ElementsAre(2, 2, 2, 0, 0, 3, 3, 3, 3, 0));
}

TEST(PaddedBatch, PadsInnerAxesToo) {
  const DatasetPtr a = batch(numbers(2), 2), b = batch(numbers(3), 3);
  const DatasetPtr dataset =
      padded_batch(concatenate(a, b), {.size = 2, .shapes = {{varying}, {varying, 3}}, .values = {-1, 0.5}});
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[2, ?], float32[2, ?, 3])");
  const Element found = all_batches(dataset).front();
  EXPECT_THAT(found[0].values<std::int64_t>(), ElementsAre(0, 1, -1, 0, 1, 2));
  EXPECT_THAT(found[1].values<float>(), ElementsAre(0, 0, 0.5, 1, -1, 0.5, 0.5, 0.5, 0.5,  //
                                                    0, 0, 0.5, 1, -1, 0.5, 2, -2, 0.5));
}

TEST(PaddedBatch, FixedElementsAreStackedAsTheyAre) {
  EXPECT_EQ(read(padded_batch(numbers(10), {.size = 4})), counting(0, 10));
  EXPECT_EQ(read(padded_batch(numbers(10), {.size = 4, .drop_remainder = true})), counting(0, 8));
  EXPECT_EQ(padded_batch(numbers(10), {.size = 4})->open()->skip(7), 3);
  EXPECT_EQ(padded_batch(numbers(10), {.size = 4, .drop_remainder = true})->open()->skip(7), 2);
}

TEST(PaddedBatch, RefusesWhatDoesNotFit) {
  EXPECT_ERROR("padded_batch: a size of 0; at least 1 is needed", padded_batch(ragged(3), {.size = 0}));
  EXPECT_ERROR("padded_batch: float32[2] cannot be padded to float32[1]",
               padded_batch(numbers(3), {.size = 2, .shapes = {{}, {1}}}));
  EXPECT_ERROR("padded_batch: float32[2] cannot be padded to float32[2, 2]",
               padded_batch(numbers(3), {.size = 2, .shapes = {{}, {2, 2}}}));
  EXPECT_ERROR("padded_batch: 1 padded shapes for the 2 tensors of (int64[], float32[2])",
               padded_batch(numbers(3), {.size = 2, .shapes = {{}}}));
  EXPECT_ERROR("padded_batch: 2 padding values for the 1 tensors of (uint8[?])",
               padded_batch(ragged(3), {.size = 2, .values = {1, 2}}));
  EXPECT_ERROR("padded_batch: -1 cannot be stored as uint8", padded_batch(ragged(3), {.size = 2, .values = {-1}}));
  EXPECT_ERROR(
      "padded_batch: a size of 5 with drop_remainder leaves "
      "nothing of a dataset of 3 elements",
      padded_batch(ragged(3), {.size = 5, .drop_remainder = true}));
  EXPECT_ERROR("padded_batch: an element has uint8[3], which is larger than the padded uint8[2]",
               all_batches(padded_batch(ragged(4), {.size = 4, .shapes = {{2}}})));
}

}  // namespace
}  // namespace gpubench
