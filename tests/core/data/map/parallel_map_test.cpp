#include <algorithm>
#include <barrier>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <mutex>

#include "core/base/interrupt.h"
#include "core/data/map/map.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

std::vector<std::int64_t> sorted(std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

struct Way {
  Taken taken;
  std::int64_t workers;
  std::int64_t block;
};

class ParallelMap : public testing::TestWithParam<Way> {
 protected:
  static DatasetPtr source(std::int64_t count) { return numbers(count, GetParam().taken); }
  static std::shared_ptr<const ElementFunction> increment() { return std::make_shared<Increment>(GetParam().block); }
  static MapOptions workers() { return {.workers = GetParam().workers}; }
};
INSTANTIATE_TEST_SUITE_P(Ways, ParallelMap,
                         testing::Values(Way{Taken::as_rows, 0, 16}, Way{Taken::packed, 0, 16},
                                         Way{Taken::whole, 0, 16}, Way{Taken::as_rows, 1, 1}, Way{Taken::packed, 1, 16},
                                         Way{Taken::as_rows, 3, 16}, Way{Taken::packed, 3, 1}, Way{Taken::whole, 3, 16},
                                         Way{Taken::as_rows, autotune, 16}, Way{Taken::whole, 40, 16}),
                         [](const auto& way) {
                           const std::int64_t workers = way.param.workers;
                           return to_string(way.param.taken) +
                                  (workers == autotune ? "Autotune" : std::to_string(workers)) + "Block" +
                                  std::to_string(way.param.block);
                         });

TEST_P(ParallelMap, KeepsTheOrder) {
  const DatasetPtr dataset = map(source(3000), increment(), workers());
  EXPECT_EQ(dataset->size(), 3000);
  EXPECT_EQ(read(dataset), counting(1, 3001));
}

TEST_P(ParallelMap, GathersShuffledRows) {
  const DatasetPtr order = shuffle(source(3000), {.buffer = 500, .seed = 4});
  std::vector<std::int64_t> expected = read(order);
  for (std::int64_t& number : expected) ++number;
  EXPECT_EQ(read(map(order, increment(), workers())), expected);
  EXPECT_EQ(read(batch(map(order, increment(), workers()), 33)), expected);
}

TEST_P(ParallelMap, GivesAllElementsInAnyOrderWhenAsked) {
  MapOptions options = workers();
  options.deterministic = false;
  EXPECT_EQ(sorted(read(map(source(3000), increment(), options))), counting(1, 3001));
  EXPECT_EQ(sorted(read(batch(map(source(3000), increment(), options), 32))), counting(1, 3001));
}

TEST_P(ParallelMap, MakesWholeBatches) {
  EXPECT_EQ(read(batch(map(map(source(1000), increment(), workers()), increment(), workers()), 32)), counting(2, 1002));
  const std::unique_ptr<Cursor> cursor = batch(map(source(10), increment(), workers()), 4)->open();
  Element element;
  std::vector<std::int64_t> sizes;
  while (cursor->next(element)) sizes.push_back(element[1].shape()[0]);
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{4, 4, 2}));
  EXPECT_FALSE(cursor->next(element));
  EXPECT_EQ(read(batch(map(source(10), increment(), workers()), 4, true)), counting(1, 9));
}

TEST_P(ParallelMap, TakesBatchesOfVaryingSize) {
  EXPECT_EQ(read(map(batch(source(103), 4), increment(), workers())), counting(1, 104));
}

TEST_P(ParallelMap, RefusesToStackUnequalShapes) {
  const DatasetPtr dataset = batch(map(batch(source(5), 2), increment(), workers()), 3);
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  EXPECT_ERROR(
      "batch: an element has int64[1] where the ones before have int64[2]; elements that "
      "are stacked need equal shapes (element 3 of the epoch)",
      cursor->next(element));
}

TEST_P(ParallelMap, AnErrorTakesItsElementsPlace) {
  const std::unique_ptr<Cursor> cursor = map(source(2000), fails_at(1234, GetParam().block), workers())->open();
  Element element;
  for (std::int64_t i = 0; i < 1234; ++i) {
    ASSERT_TRUE(cursor->next(element));
    ASSERT_EQ(element[0].values<std::int64_t>()[0], i + 1);
  }
  EXPECT_ERROR("element 1234 is bad (element 1235 of the epoch)", cursor->next(element));
  EXPECT_EQ(read(*cursor), counting(1236, 2001));
}

TEST_P(ParallelMap, ABatchWithABadElementIsAnError) {
  const std::unique_ptr<Cursor> cursor = batch(map(source(100), fails_at(45, GetParam().block), workers()), 10)->open();
  Element element;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(cursor->next(element));
  EXPECT_ERROR("element 45 is bad (element 46 of the epoch)", cursor->next(element));
  EXPECT_EQ(read(*cursor), counting(51, 101));
}

TEST_P(ParallelMap, TheSourcesErrorComesAfterTheGoodElements) {
  const std::unique_ptr<Cursor> cursor =
      map(std::make_shared<Damaged>(source(100), 30), increment(), workers())->open();
  Element element;
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(cursor->next(element));
  EXPECT_ERROR("element 30 is damaged", cursor->next(element));
  EXPECT_EQ(read(*cursor), counting(31, 101));
}

TEST_P(ParallelMap, CanBeDestroyedWhileItRuns) {
  for (int taken = 0; taken < 20; ++taken) {
    const std::unique_ptr<Cursor> elements = map(repeat(source(100)), increment(), workers())->open();
    const std::unique_ptr<Cursor> batches =
        prefetch(batch(map(repeat(source(100)), increment(), workers()), 7))->open();
    Element element;
    for (int i = 0; i < taken; ++i) {
      ASSERT_TRUE(elements->next(element));
      ASSERT_TRUE(batches->next(element));
    }
  }
}

TEST_P(ParallelMap, ElementsOutliveTheCursor) {
  std::vector<Element> kept(200);
  {
    const std::unique_ptr<Cursor> cursor = map(source(200), increment(), workers())->open();
    for (Element& element : kept) ASSERT_TRUE(cursor->next(element));
  }
  for (std::size_t i = 0; i < kept.size(); ++i)
    EXPECT_EQ(kept[i][0].values<std::int64_t>()[0], static_cast<std::int64_t>(i) + 1);
}

TEST_P(ParallelMap, CountsAndTimesItsWork) {
  const DatasetPtr numbers = source(10);
  const auto bytes = static_cast<std::int64_t>(10 * (sizeof(std::int64_t) + numbers->element_types()[1].bytes()));
  const std::unique_ptr<Cursor> cursor = batch(map(numbers, increment(), workers()), 4)->open();
  read(*cursor);
  const std::vector<StageStatistics> stages = cursor->statistics();
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[1].stage, "map");
  EXPECT_EQ(stages[1].produced, 10);
  EXPECT_EQ(stages[1].bytes, bytes);
  EXPECT_GT(stages[1].busy.count(), 0.0);
  EXPECT_EQ(stages[2].stage, "batch");
  EXPECT_EQ(stages[2].produced, 3);
  EXPECT_EQ(stages[2].bytes, bytes);
}

/// Functions that ran, by element.
class Skipping : public ParallelMap {
 protected:
  Skipping() : function_(std::make_shared<Increment>(1, [this](const ElementBlock&) { ran_.fetch_add(1); })) {}
  std::atomic<int> ran_{0};
  std::shared_ptr<const ElementFunction> function_;
};
INSTANTIATE_TEST_SUITE_P(Ways, Skipping,
                         testing::Values(Way{Taken::as_rows, 0, 1}, Way{Taken::packed, 0, 1}, Way{Taken::as_rows, 3, 1},
                                         Way{Taken::whole, 3, 1}),
                         [](const auto& way) {
                           return to_string(way.param.taken) + std::to_string(way.param.workers);
                         });

TEST_P(Skipping, RunsNothingForWhatIsPassedOver) {
  for (const std::int64_t size : {1, 10}) {
    ran_ = 0;
    const DatasetPtr mapped = map(source(10000), function_, workers());
    const std::unique_ptr<Cursor> cursor = (size == 1 ? mapped : batch(mapped, size))->open();
    EXPECT_EQ(cursor->skip(9900 / size), 9900 / size);
    EXPECT_EQ(read(*cursor), counting(9901, 10001));
    EXPECT_EQ(ran_, 100);
  }
}

TEST_P(Skipping, GoesOnBehindIt) {
  for (const std::int64_t size : {1, 10}) {
    ran_ = 0;
    const DatasetPtr mapped = map(source(100000), function_, workers());
    const std::unique_ptr<Cursor> cursor = prefetch(size == 1 ? mapped : batch(mapped, size), 2)->open();
    const std::unique_ptr<Cursor> direct = (size == 1 ? mapped : batch(mapped, size))->open();
    Element element;
    ASSERT_TRUE(direct->next(element));
    EXPECT_EQ(direct->skip(99000 / size), 99000 / size);
    EXPECT_EQ(read(*direct), counting(99001 + size, 100001));
    EXPECT_LT(ran_, 90000);
    EXPECT_EQ(direct->skip(5), 0);
  }
}

TEST_P(Skipping, EndsWithTheSource) {
  const std::unique_ptr<Cursor> cursor = batch(map(source(95), function_, workers()), 10)->open();
  EXPECT_EQ(cursor->skip(100), 10);
  const std::unique_ptr<Cursor> full = batch(map(source(95), function_, workers()), 10, true)->open();
  EXPECT_EQ(full->skip(100), 9);
}

TEST(ParallelMapWorkers, WorkAtTheSameTime) {
  constexpr std::int64_t workers = 4;
  std::barrier together(workers);  // nobody gets on before all are there
  const auto function = std::make_shared<Increment>(1, [&](const ElementBlock&) { together.arrive_and_wait(); });
  EXPECT_EQ(read(map(numbers(workers), function, {.workers = workers})), counting(1, workers + 1));
  EXPECT_EQ(read(batch(map(numbers(2 * workers), function, {.workers = workers}), 1)), counting(1, 2 * workers + 1));
}

TEST(ParallelMapWorkers, AFinishedElementOvertakesASlowOneOnlyWhenAsked) {
  std::promise<void> others_taken;
  const std::shared_future<void> wait(others_taken.get_future());
  const auto function = std::make_shared<Increment>(1, [&](const ElementBlock& elements) {
    if (elements.inputs[0].as<std::int64_t>()[0] == 0) wait.wait();
  });
  const std::unique_ptr<Cursor> cursor = map(numbers(4), function, {.workers = 2, .deterministic = false})->open();
  Element element;
  for (const std::int64_t expected : {2, 3, 4}) {
    ASSERT_TRUE(cursor->next(element));
    EXPECT_EQ(element[0].values<std::int64_t>()[0], expected);
  }
  others_taken.set_value();
  EXPECT_EQ(read(*cursor), counting(1, 2));
}

TEST(ParallelMapWorkers, AreNoFurtherAheadThanTheBuffer) {
  std::atomic<std::int64_t> ran{0};
  const auto function = std::make_shared<Increment>(1, [&](const ElementBlock&) { ran.fetch_add(1); });
  const std::unique_ptr<Cursor> cursor = batch(map(repeat(numbers(100)), function, {.workers = 3}), 10)->open();
  Element element;
  for (std::int64_t taken = 1; taken <= 200; ++taken) {
    ASSERT_TRUE(cursor->next(element));
    EXPECT_LE(ran, (taken + 5) * 10);
    const StageStatistics stage = cursor->statistics()[2];
    EXPECT_EQ(stage.workers, 3);
    EXPECT_EQ(stage.capacity, 50);
    EXPECT_LE(stage.buffered, stage.capacity);
  }
}

TEST(ParallelMapWorkers, AConsumerThatWaitsCanBeInterrupted) {
  std::promise<void> release_worker;
  const std::shared_future<void> wait(release_worker.get_future());
  const auto function = std::make_shared<Increment>(1, [&](const ElementBlock&) { wait.wait(); });
  const std::unique_ptr<Cursor> cursor = map(numbers(3), function, {.workers = 2})->open();
  Element element;
  request_interrupt();
  EXPECT_THROW(cursor->next(element), Interrupted);
  clear_interrupt();
  release_worker.set_value();
}

/// The numbers by which random ops would draw, by element.
std::map<std::int64_t, std::int64_t> drawn(
    const std::function<DatasetPtr(std::shared_ptr<const ElementFunction>)>& in) {
  std::mutex mutex;
  std::map<std::int64_t, std::int64_t> found;
  const auto function = std::make_shared<Increment>(8, [&](const ElementBlock& block) {
    const std::lock_guard lock(mutex);
    const std::int64_t examples = block.count * block.inputs[0].elements();
    for (std::int64_t i = 0; i < examples; ++i) found[block.inputs[0].as<std::int64_t>()[i]] = block.number + i;
  });
  read(in(function), 7);
  return found;
}

TEST(ParallelMapNumbers, AreTheSameForAnyNumberOfWorkers) {
  const auto mapped = [](std::int64_t workers) {
    return drawn([&](auto function) {
      return map(opaque(numbers(500)), function, {.workers = workers, .deterministic = false});
    });
  };
  const std::map<std::int64_t, std::int64_t> serial = mapped(0);
  EXPECT_EQ(serial.size(), 500U);
  EXPECT_EQ(serial.at(499), serial.at(0) + 499);
  EXPECT_EQ(mapped(5), serial);
  EXPECT_EQ(drawn([](auto function) { return batch(map(numbers(500), function, {.workers = 3}), 32); }), serial);
}

TEST(ParallelMapNumbers, OfABatchAreThoseOfItsExamples) {
  const auto elements = drawn([](auto function) { return map(numbers(100), function); });
  EXPECT_EQ(drawn([](auto function) { return map(batch(numbers(100), 32), function); }), elements);
  EXPECT_EQ(drawn([](auto function) { return batch(map(batch(numbers(100), 4), function), 5); }), elements);
}

TEST(ParallelMapErrors, NameWhatIsPossible) {
  EXPECT_ERROR("map: 200 parallel calls; 0 to 128 are possible, or AUTOTUNE",
               map(numbers(3), std::make_shared<Increment>(), {.workers = 200}));
  EXPECT_ERROR("map: -2 parallel calls; 0 to 128 are possible, or AUTOTUNE",
               map(numbers(3), std::make_shared<Increment>(), {.workers = -2}));
}

TEST(ParallelMapErrors, AFunctionThatCannotBePlannedIsOne) {
  class Unplannable final : public ElementFunction {
   public:
    std::vector<TensorType> output_types(TensorTypes inputs) const override { return {inputs.begin(), inputs.end()}; }
    std::unique_ptr<ElementRunner> plan(TensorTypes) const override { throw Error("no plan"); }
  };
  const std::unique_ptr<Cursor> cursor = map(numbers(3), std::make_shared<Unplannable>(), {.workers = 2})->open();
  Element element;
  EXPECT_ERROR("no plan (element 1 of the epoch)", cursor->next(element));
}

}  // namespace
}  // namespace gpubench
