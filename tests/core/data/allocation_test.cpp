// A warm pipeline asks for no memory: batches circulate between the stage that fills them and the consumer. Counted in
// operator new of this test program, on all its threads.
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

#include "core/data/batch.h"
#include "core/data/map.h"
#include "core/data/prefetch.h"
#include "core/data/shuffle.h"
#include "tests/core/data/reading.h"

namespace {
std::atomic<std::int64_t> allocations{0};
}  // namespace

void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace gpubench {
namespace {

constexpr std::int64_t elements = 10000;

std::int64_t allocations_when_warm(const DatasetPtr& dataset) {
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(cursor->next(element));
  const std::int64_t before = allocations.load();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(cursor->next(element));
  return allocations.load() - before;
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
