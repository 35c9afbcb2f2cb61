// A warm pipeline asks for no memory: batches circulate between the stage that fills them and the consumer.
#include <gtest/gtest.h>

#include "core/data/map/map.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/shuffle.h"
#include "tests/core/data/reading.h"
#include "tests/support/allocations.h"

namespace gpubench {
namespace {

constexpr std::int64_t elements = 10000;

long allocations_when_warm(const DatasetPtr& dataset) {
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(cursor->next(element));
  return support::count_allocations([&] {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(cursor->next(element));
  });
}

TEST(Allocations, NoneForShuffledBatches) {
  EXPECT_EQ(allocations_when_warm(batch(shuffle(numbers(elements), {.buffer = 1000}), 16)), 0);
  EXPECT_EQ(allocations_when_warm(batch(shuffle(opaque(numbers(elements)), {.buffer = 1000}), 16)), 0);
}

TEST(Allocations, OnlyTheBuffersBlocksForPrefetchedBatches) {
  // The consumer may meet a full buffer late, so its blocks may be made late too: four, one on each side, and at most
  // two allocations for each.
  constexpr std::int64_t capacity = 4;
  EXPECT_LE(allocations_when_warm(prefetch(batch(numbers(elements), 16), capacity)), 2 * (capacity + 2));
}

TEST(Allocations, NoneForSingleElements) {
  EXPECT_EQ(allocations_when_warm(shuffle(numbers(elements), {.buffer = 1000})), 0);
}

}  // namespace
}  // namespace gpubench
