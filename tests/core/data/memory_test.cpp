// What a pipeline takes is bounded by the buffers that it declares, and epoch after epoch leaves nothing behind.
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <unistd.h>

#include "core/data/cache/cache.h"
#include "core/data/interleave/interleave.h"
#include "core/data/map/map.h"
#include "core/data/source/range.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/combine.h"
#include "core/data/stage/filter.h"
#include "core/data/stage/ignore_errors.h"
#include "core/data/stage/padded_batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "core/data/stage/unbatch.h"
#include "core/data/tune/pipeline.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/heap_pool.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"

namespace gpubench {
namespace {

/// The most that an epoch of `dataset` took at a time.
std::size_t peak_bytes(const DatasetPtr& dataset) {
  const std::unique_ptr<MemoryPool> pool = heap_pool();
  const std::unique_ptr<Cursor> cursor = dataset->open(0, {.memory = pool.get()});
  for (Element element; cursor->next(element);) continue;
  return pool->use().peak;
}

TEST(PipelineMemory, IsWhatABufferHoldsAndOneBatchOnEachSide) {
  const DatasetPtr batches = batch(numbers(4000), 8);
  const std::size_t one = peak_bytes(batches);
  ASSERT_GT(one, 0U);
  for (const std::size_t capacity : {1, 4, 16}) {
    EXPECT_LE(peak_bytes(prefetch(batches, static_cast<std::int64_t>(capacity))), (capacity + 2) * one);
  }
}

TEST(PipelineMemory, OfAParallelMapIsABatchAWorkerAndThreeMore) {
  const std::size_t one = peak_bytes(batch(numbers(4000), 8));
  for (const std::size_t workers : {1, 2, 4}) {
    const MapOptions parallel{.workers = static_cast<std::int64_t>(workers)};
    const DatasetPtr batches = batch(map(numbers(4000), std::make_shared<Increment>(), parallel), 8);
    EXPECT_LE(peak_bytes(batches), (workers + 3) * one);
  }
}

std::shared_ptr<const ElementFunction> all() {
  return std::make_shared<Predicate>([](std::int64_t) { return true; });
}

/// All kinds of stages, most of them one behind the other.
DatasetPtr every_stage() {
  const MapOptions parallel{.workers = 2};
  DatasetPtr stages = cache(filter(shuffle(numbers(60), {.buffer = 20}), all()));
  stages = map(shard(skip(repeat(stages, 2), 1), 2, 0), std::make_shared<Increment>(4), parallel);
  stages = ignore_errors(prefetch(map(concatenate(take(stages, 20), stages), fails_at(9, 2)), 2));
  stages = unbatch(batch(interleave({stages, stages}, {.cycle_length = 2, .parallel = 1}), 4));
  return zip({prefetch(batch(stages, 5)), padded_batch(ragged(40), {.size = 3}), range(0, 100)});
}

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

void run_epochs(const Dataset& dataset, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t epoch = first; epoch < last; ++epoch) {
    const std::unique_ptr<Cursor> cursor = open_pipeline(dataset, epoch);
    std::int64_t elements = 0;
    for (Element element; cursor->next(element); ++elements) continue;
    ASSERT_GT(elements, 5);
  }
}

TEST(PipelineMemory, AThousandEpochsLeaveItFlat) {
  constexpr std::int64_t slack = std::int64_t{1} << 18;  // of the heap; a leak of 1 KB an epoch is more
#ifdef GPUBENCH_SANITIZED
  GTEST_SKIP() << "sanitizers keep what is freed";
#endif
  const DatasetPtr dataset = every_stage();
  run_epochs(*dataset, 0, 250);
  // The heap grows now and then, by pages that it keeps; a leak grows in every quarter.
  std::int64_t least_growth = std::numeric_limits<std::int64_t>::max();
  for (const std::uint64_t quarter : {1, 2, 3}) {
    const std::int64_t before = resident_bytes();
    run_epochs(*dataset, 250 * quarter, 250 * (quarter + 1));
    least_growth = std::min(least_growth, resident_bytes() - before);
  }
  EXPECT_LE(least_growth, slack);
}

}  // namespace
}  // namespace gpubench
