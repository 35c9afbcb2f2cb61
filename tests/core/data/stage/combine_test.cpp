#include "core/data/stage/combine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/source/range.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/repeat.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/texts.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

TEST(Concatenate, GivesOneAfterTheOther) {
  const DatasetPtr dataset = concatenate(numbers(2), opaque(numbers(3)));
  EXPECT_EQ(dataset->size(), 5);
  EXPECT_THAT(read(dataset), ElementsAre(0, 1, 0, 1, 2));
  EXPECT_THAT(read(batch(dataset, 2)), ElementsAre(0, 1, 0, 1, 2));
  EXPECT_EQ(dataset->open()->skip(100), 5);
  EXPECT_EQ(concatenate(numbers(2), repeat(numbers(2)))->size(), endless);
}

TEST(Concatenate, ExtentsMayDiffer) {
  const DatasetPtr dataset = concatenate(batch(numbers(4), 2), batch(numbers(3), 3));
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[?], float32[?, 2])");
  EXPECT_THAT(read(dataset), ElementsAre(0, 1, 2, 3, 0, 1, 2));
}

TEST(Concatenate, RefusesOtherTypesAndTheEndless) {
  EXPECT_ERROR(
      "concatenate: elements (int64[], float32[2]) and "
      "(int64[]) differ in more than their extents",
      concatenate(numbers(2), range(0, 3)));
  EXPECT_ERROR("concatenate: elements (uint8[?]) and (int64[]) differ in more than their extents",
               concatenate(ragged(2), range(0, 3)));
  EXPECT_ERROR("concatenate: the first dataset never ends; use take", concatenate(repeat(numbers(2)), numbers(2)));
}

TEST(Zip, JoinsElementsUpToTheShortest) {
  const DatasetPtr dataset = zip({numbers(5), take(numbers(9), 3)});
  EXPECT_EQ(dataset->size(), 3);
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[], float32[2], int64[], float32[2])");
  EXPECT_EQ(read(dataset), counting(0, 3));
  EXPECT_EQ(describe(*dataset), "(from_tensor_slices, from_tensor_slices > take(count=3)) > zip");
}

TEST(Zip, RefusesNoSources) {
  EXPECT_ERROR("zip: no datasets given; at least one is needed", zip({}));
}

}  // namespace
}  // namespace gpubench
