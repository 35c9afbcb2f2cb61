#include "core/data/tune/pipeline.h"

#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/epoch_record.h"
#include "core/data/map/map.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/unbatch.h"
#include "core/data/tune/machine_limits.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"

namespace gpubench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

DatasetPtr tuned(std::int64_t count) {
  return prefetch(batch(map(numbers(count), std::make_shared<Increment>(8), {.workers = autotune}), 4));
}

TEST(Pipeline, GivesWhatTheDatasetGives) {
  const DatasetPtr dataset = tuned(1000);
  EXPECT_EQ(read(*open_pipeline(*dataset)), counting(1, 1001));
}

TEST(Pipeline, LeavesItsStatisticsBehind) {
  const DatasetPtr dataset = tuned(1000);
  EXPECT_TRUE(dataset->record()->statistics().empty());
  {
    const std::unique_ptr<Cursor> cursor = open_pipeline(*dataset);
    Element element;
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(cursor->next(element));
    EXPECT_EQ(dataset->record()->statistics().back().produced, 10);
  }
  const std::vector<StageStatistics> stages = dataset->record()->statistics();
  ASSERT_EQ(stages.size(), 4U);
  EXPECT_EQ(stages[3].produced, 10);
  EXPECT_EQ(stages[3].bytes, 10 * 4 * 16);
  EXPECT_GE(stages[1].workers, 1);
  EXPECT_EQ(stages[1].why, "to start with");
}

TEST(Pipeline, StartsWithWhatTheEpochBeforeLearnt) {
  const DatasetPtr dataset = tuned(1000);
  const Dataset* const mapped = dataset->sources()[0]->sources()[0].get();
  dataset->record()->learn(mapped, 7);
  dataset->record()->learn(dataset.get(), 5);
  const std::unique_ptr<Cursor> cursor = open_pipeline(*dataset);
  const std::vector<StageStatistics> stages = cursor->statistics();
  EXPECT_EQ(stages[1].workers, 7);
  EXPECT_EQ(stages[3].capacity, 5);
}

TEST(Pipeline, FirstSettingsFitTheMemoryBudget) {
  const DatasetPtr large = batch(map(numbers(1 << 20), std::make_shared<Increment>(), {.workers = autotune}), 1 << 16);
  const DatasetPtr dataset = options(prefetch(large), {.ram_budget = 1 << 20});
  const std::unique_ptr<Cursor> cursor = open_pipeline(*dataset);
  Element element;
  ASSERT_TRUE(cursor->next(element));
  EXPECT_EQ(cursor->statistics()[1].workers, 1);
  EXPECT_EQ(cursor->statistics()[3].capacity, 1);
}

TEST(Pipeline, FirstSettingsShareTheMemoryBudget) {
  const auto increment = [] { return std::make_shared<Increment>(); };
  const DatasetPtr front = batch(map(numbers(1 << 20), increment(), {.workers = autotune}), 1 << 16);
  const DatasetPtr dataset = unbatch(front);
  const DatasetPtr back = batch(map(dataset, increment(), {.workers = autotune}), 1 << 16);
  constexpr std::int64_t batch_bytes = std::int64_t{8} << 16, spare = 2;
  const auto workers = [&](std::int64_t batches) {
    const std::unique_ptr<Cursor> cursor = open_pipeline(*options(back, {.ram_budget = batches * batch_bytes}));
    std::int64_t total = 0;
    for (const StageStatistics& stage : cursor->statistics()) total += stage.workers;
    return total;
  };
  EXPECT_EQ(workers(2 * spare + 2), 2);
  EXPECT_EQ(workers(2 * spare + 2 * 64), std::min<std::int64_t>(2 * schedulable_cores(), 2 * 64));
}

TEST(Pipeline, RepetitionsComeAndGoWhileItRuns) {
  const DatasetPtr dataset = repeat(tuned(8), 200);
  EXPECT_EQ(read(*open_pipeline(*dataset)).size(), 1600U);
  EXPECT_EQ(dataset->record()->statistics().back().produced, 400);
}

TEST(Pipeline, CanBeLeftEarly) {
  const DatasetPtr dataset = repeat(tuned(100));
  for (int taken = 0; taken < 20; ++taken) {
    const std::unique_ptr<Cursor> cursor = open_pipeline(*dataset, static_cast<std::uint64_t>(taken));
    Element element;
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(cursor->next(element));
  }
}

TEST(Options, TheNearestToTheEndCounts) {
  const DatasetPtr inner = options(numbers(4), {.threads = 3, .ram_budget = 100});
  const DatasetPtr outer = options(batch(inner, 2), {.threads = 8, .cpu_budget = 1.5, .deterministic = false});
  const PipelineOptions found = options_of(*outer);
  EXPECT_EQ(found.threads, 8);
  EXPECT_EQ(found.ram_budget, 100);
  EXPECT_EQ(found.cpu_budget, 1.5);
  EXPECT_EQ(found.deterministic, false);
  EXPECT_THAT(describe(*outer), HasSubstr("options(threads=8 cpu_budget=1.5 deterministic=false)"));
}

TEST(Options, DecideTheOrderOfMapsThatWereNotTold) {
  std::promise<void> others_taken;
  const std::shared_future<void> wait(others_taken.get_future());
  const auto function = std::make_shared<Increment>(1, [&](const ElementBlock& elements) {
    if (elements.inputs[0].as<std::int64_t>()[0] == 0) wait.wait();
  });
  const DatasetPtr mapped = map(numbers(3), function, {.workers = 2});
  const std::unique_ptr<Cursor> cursor = open_pipeline(*options(mapped, {.deterministic = false}));
  Element element;
  ASSERT_TRUE(cursor->next(element));
  EXPECT_EQ(element[0].values<std::int64_t>()[0], 2);
  others_taken.set_value();
}

TEST(Options, RefuseWhatIsNotPositive) {
  const auto with = [](const PipelineOptions& given) { return [given] { options(numbers(3), given); }; };
  EXPECT_THAT(with({.threads = 0}), ThrowsMessage<Error>("options: threads = 0; it must be above 0"));
  EXPECT_THAT(with({.ram_budget = -1}), ThrowsMessage<Error>("options: ram_budget = -1; it must be above 0"));
  EXPECT_THAT(with({.cpu_budget = 0.0}), ThrowsMessage<Error>("options: cpu_budget = 0; it must be above 0"));
}

}  // namespace
}  // namespace gpubench
