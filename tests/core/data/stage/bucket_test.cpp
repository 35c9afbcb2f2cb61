#include "core/data/stage/bucket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/source/range.h"
#include "core/data/stage/combine.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

std::vector<Element> bucketed(const DatasetPtr& dataset) {
  std::vector<Element> found;
  const std::unique_ptr<Cursor> cursor = dataset->open();
  for (Element element; cursor->next(element);) found.push_back(element);
  return found;
}

/// Lengths 1, 2, 3, 4, 1, ... of the values 0, 1, 2, ...
BucketOptions short_and_long() {
  return {.boundaries = {3}, .batch_sizes = {3, 2}, .values = {9}};
}

TEST(Bucket, BatchesHaveSimilarLengths) {
  const DatasetPtr dataset = bucket_by_sequence_length(ragged(9), short_and_long());
  EXPECT_EQ(to_string(dataset->element_types()), "(uint8[?, ?])");
  EXPECT_EQ(dataset->size(), std::nullopt);
  EXPECT_EQ(dataset->examples_per_element(), 3);
  const std::vector<Element> batches = bucketed(dataset);
  ASSERT_EQ(batches.size(), 4U);
  EXPECT_THAT(batches[0][0].values<std::uint8_t>(), ElementsAre(2, 2, 2, 9, 3, 3, 3, 3));
  EXPECT_THAT(batches[1][0].values<std::uint8_t>(), ElementsAre(0, 9, 1, 1, 4, 9));
  EXPECT_THAT(batches[2][0].values<std::uint8_t>(), ElementsAre(6, 6, 6, 9, 7, 7, 7, 7));
  EXPECT_THAT(batches[3][0].values<std::uint8_t>(), ElementsAre(5, 5, 8, 9));
}

TEST(Bucket, TheRemainderFollowsInAscendingOrderOrIsDropped) {
  BucketOptions options = short_and_long();
  options.batch_sizes = {10, 10};
  const std::vector<Element> left = bucketed(bucket_by_sequence_length(ragged(4), options));
  ASSERT_EQ(left.size(), 2U);
  EXPECT_THAT(left[0][0].values<std::uint8_t>(), ElementsAre(0, 9, 1, 1));
  options.drop_remainder = true;
  EXPECT_TRUE(bucketed(bucket_by_sequence_length(ragged(4), options)).empty());
}

TEST(Bucket, PadsToTheBoundary) {
  const BucketOptions options{.boundaries = {3, 7}, .batch_sizes = {1, 1, 1}, .values = {9}, .pad_to_boundary = true};
  const std::vector<Element> batches = bucketed(bucket_by_sequence_length(ragged(3), options));
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_THAT(batches[0][0].values<std::uint8_t>(), ElementsAre(0, 9));
  EXPECT_THAT(batches[2][0].values<std::uint8_t>(), ElementsAre(2, 2, 2, 9, 9, 9));
}

TEST(Bucket, ALongerElementThanTheLastBoundaryIsAnError) {
  const BucketOptions options{.boundaries = {2, 3}, .batch_sizes = {1, 1, 1}, .pad_to_boundary = true};
  const std::unique_ptr<Cursor> cursor = bucket_by_sequence_length(ragged(6), options)->open();
  Element element;
  EXPECT_EQ(cursor->skip(2), 2);
  EXPECT_ERROR(
      "bucket_by_sequence_length: an element has a length of 3; with "
      "pad_to_bucket_boundary, lengths are below the last boundary, 3",
      cursor->next(element));
  EXPECT_THROW(cursor->next(element), Error);
  ASSERT_TRUE(cursor->next(element));
  EXPECT_THAT(element[0].values<std::uint8_t>(), ElementsAre(4));
}

TEST(Bucket, OtherTensorsGoWithTheirSequence) {
  const DatasetPtr labelled = zip({ragged(4), range(0, 4)});
  const std::vector<Element> batches =
      bucketed(bucket_by_sequence_length(labelled, {.boundaries = {3}, .batch_sizes = {2, 2}}));
  EXPECT_THAT(batches[1][1].values<std::int64_t>(), ElementsAre(2, 3));
}

TEST(Bucket, CountsTheElementsThatItHolds) {
  const std::unique_ptr<Cursor> cursor = bucket_by_sequence_length(ragged(9), short_and_long())->open();
  Element element;
  ASSERT_TRUE(cursor->next(element));
  EXPECT_EQ(cursor->statistics().back().held, 2);
}

TEST(Bucket, RefusesWhatDoesNotFit) {
  const auto refusal = [](DatasetPtr source, const BucketOptions& options) {
    return [source = std::move(source), options] { bucket_by_sequence_length(source, options); };
  };
  EXPECT_THAT(refusal(ragged(3), {}),
              ThrowsMessage<Error>("bucket_by_sequence_length: no bucket_boundaries; at least one is needed"));
  EXPECT_THAT(refusal(ragged(3), {.boundaries = {4, 4}, .batch_sizes = {1, 1, 1}}),
              ThrowsMessage<Error>("bucket_by_sequence_length: bucket_boundaries of 4, 4; "
                                   "they start at 1 or more and ascend"));
  EXPECT_THAT(refusal(ragged(3), {.boundaries = {4}, .batch_sizes = {1}}),
              ThrowsMessage<Error>("bucket_by_sequence_length: 1 bucket_batch_sizes for 1 bucket_boundaries; 2 are "
                                   "needed, one more for the longest"));
  EXPECT_THAT(refusal(ragged(3), {.boundaries = {4}, .batch_sizes = {1, 0}}),
              ThrowsMessage<Error>("bucket_by_sequence_length: a size of 0; at least 1 is needed"));
  EXPECT_THAT(
      refusal(range(0, 3), {.boundaries = {4}, .batch_sizes = {1, 1}}),
      ThrowsMessage<Error>("bucket_by_sequence_length: int64[] is a scalar and has no length; the first tensor of "
                           "an element is the sequence"));
  EXPECT_THAT(refusal(ragged(3), {.boundaries = {4}, .batch_sizes = {1, 1}, .values = {1, 2}}),
              ThrowsMessage<Error>("bucket_by_sequence_length: 2 padding values for the 1 tensors of (uint8[?])"));
}

}  // namespace
}  // namespace gpubench
