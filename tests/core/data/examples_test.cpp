// How many examples an element of each stage stands for: rates and random numbers count by it.
#include <gtest/gtest.h>

#include "core/data/interleave/interleave.h"
#include "core/data/source/range.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/combine.h"
#include "core/data/stage/filter.h"
#include "core/data/stage/padded_batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/unbatch.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"

namespace gpubench {
namespace {

TEST(Examples, ABatchHasAsManyAsRows) {
  const DatasetPtr four = batch(numbers(40), 4);
  EXPECT_EQ(numbers(40)->examples_per_element(), 1);
  EXPECT_EQ(four->examples_per_element(), 4);
  EXPECT_EQ(batch(four, 5)->examples_per_element(), 20);
  EXPECT_EQ(padded_batch(four, {.size = 5})->examples_per_element(), 20);
  EXPECT_EQ(prefetch(four)->examples_per_element(), 4);
  EXPECT_EQ(filter(four, std::make_shared<Predicate>([](std::int64_t) { return true; }))->examples_per_element(), 4);
}

TEST(Examples, ARowOfABatchHasItsShare) {
  EXPECT_EQ(unbatch(batch(numbers(40), 4))->examples_per_element(), 1);
  EXPECT_EQ(unbatch(batch(numbers(41), 4))->examples_per_element(), 1);
  EXPECT_EQ(unbatch(batch(batch(numbers(40), 4), 5))->examples_per_element(), 4);
}

TEST(Examples, OfSeveralSourcesTheMostCounts) {
  const DatasetPtr four = batch(numbers(40), 4);
  EXPECT_EQ(enumerate(four, 0)->examples_per_element(), 4);
  EXPECT_EQ(zip({four, numbers(9)})->examples_per_element(), 4);
  EXPECT_EQ(concatenate(batch(numbers(40), 3), four)->examples_per_element(), 4);
  EXPECT_EQ(interleave({four, four}, {})->examples_per_element(), 4);
  const auto batches = [&](const Element&) { return four; };
  EXPECT_EQ(interleave(range(0, 3), batches, {})->examples_per_element(), 4);
}

}  // namespace
}  // namespace gpubench
