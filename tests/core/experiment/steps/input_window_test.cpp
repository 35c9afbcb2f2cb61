#include "core/experiment/steps/input_window.h"

#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <gmock/gmock.h>
#include <memory>
#include <numeric>
#include <unistd.h>

#include "core/data/map/map.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "core/data/stage/unbatch.h"
#include "core/telemetry/proc/process_probes.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"
#include "tests/core/experiment/slow_input.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::InventedTime;
using support::slowed;
using ::testing::StartsWith;

constexpr StoppingLimits limits{.relative_error = 0.01, .min_time = Seconds(0.3), .budget = Seconds(2)};

/// Steps over a dataset that take their own time and that of the source's waiting.
class Steps {
 public:
  Steps(DatasetPtr dataset, std::shared_ptr<InventedTime> time, Seconds own)
      : dataset_(std::move(dataset)),
        time_(std::move(time)),
        own_(own),
        epochs_([this](std::uint64_t epoch) { return dataset_->open(epoch); }, "test") {}

  Seconds fetch() {
    const Seconds before = time_->passed();
    epochs_.advance([this](Cursor& cursor) { return cursor.next(element_); });
    return time_->passed() - before;
  }
  void warm_up(int steps) {
    for (int i = 0; i < steps; ++i) fetch();
  }
  void measure(InputWindow& window) {
    window.begin();
    for (bool done = false; !done;) {
      const Seconds waited = fetch();
      done = window.add((waited + own_).count(), waited);
    }
    window.end();
  }
  Epochs& epochs() { return epochs_; }

 private:
  const DatasetPtr dataset_;
  const std::shared_ptr<InventedTime> time_;
  const Seconds own_;
  Element element_;
  Epochs epochs_;
};

double mean(std::span<const double> samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

class Window : public ::testing::Test {
 protected:
  /// Shuffled as a whole and in batches of 32.
  DatasetPtr slow_shuffled(std::int64_t count) const {
    return batch(shuffle(slowed(range(0, count, 1), time_), {.buffer = 10'000}), 32);
  }
  const std::shared_ptr<InventedTime> time_ = std::make_shared<InventedTime>();
};

TEST_F(Window, ThatLivesOnAFullBufferIsInDoubt) {
  Steps steps(slow_shuffled(4096), time_, Seconds(0.01));
  steps.warm_up(10);
  InputWindow window({.budget = Seconds(0.5)}, &steps.epochs());
  steps.measure(window);
  EXPECT_EQ(window.doubt().text,
            "100 % of the examples came from buffers that were filled before measuring began (by shuffle), and not "
            "from the source; a budget in which a whole epoch fits would tell");
}

TEST_F(Window, ThatFillsABufferIsInDoubt) {
  Steps steps(slow_shuffled(4096), time_, Seconds(0.01));
  steps.warm_up(4096 / 32 - 1);  // the next epoch begins with the second step
  InputWindow window(limits, &steps.epochs());
  steps.measure(window);
  EXPECT_EQ(window.doubt().text,
            "99 % of what the source gave went into buffers that were still filling up (by shuffle), and not into "
            "steps; a budget in which a whole epoch fits would tell");
}

TEST_F(Window, BeginsAndEndsWithAnEpochWhereOneFits) {
  for (const int phase : {1, 5, 31, 32, 40}) {
    Steps steps(slow_shuffled(1024), time_, Seconds(0.001));
    steps.warm_up(phase);
    InputWindow window(limits, &steps.epochs());
    steps.measure(window);
    EXPECT_FALSE(window.doubt());
    EXPECT_EQ(window.rule().samples().size() % 32, 0U) << phase;
    EXPECT_NEAR(mean(window.rule().samples()), 0.032 + 0.001, 1e-6) << phase;
    EXPECT_NEAR(window.wait_share(), 32.0 / 33, 1e-6);
  }
}

TEST_F(Window, EndsWithAnEpochWhenTheBudgetRunsOut) {
  Steps steps(slow_shuffled(640), time_, Seconds(0.001));
  steps.warm_up(3);
  InputWindow window({.relative_error = 1e-9, .budget = Seconds(1.5)}, &steps.epochs());
  window.begin();
  int step = 0;
  for (bool done = false; !done;) {
    const Seconds waited = steps.fetch();
    done = window.add(waited.count() + 0.001 * (1 + 0.1 * (step++ % 5)), waited);  // never precise
  }
  EXPECT_FALSE(window.doubt());
  EXPECT_EQ(window.rule().samples().size(), 40U);
  EXPECT_THAT(window.rule().reason(), StartsWith("budget: "));
}

TEST_F(Window, OfAnInputWithoutBuffersIsTheRules) {
  Steps steps(batch(slowed(range(0, 1 << 20, 1), time_), 1), time_, Seconds(0));
  steps.warm_up(3);
  InputWindow window(limits, &steps.epochs());
  steps.measure(window);
  EXPECT_FALSE(window.doubt());
  EXPECT_NEAR(static_cast<double>(window.rule().samples().size()), 300, 1);
}

TEST_F(Window, KnowsThatRowNumbersAreNoWork) {
  const DatasetPtr rows = from_tensor_slices({HostTensor::zeros({{4096}, Dtype::f32})});
  Steps steps(batch(shuffle(rows, {.buffer = 10'000}), 1), time_, Seconds(0.001));
  steps.warm_up(3);
  InputWindow window(limits, &steps.epochs());
  steps.measure(window);
  EXPECT_FALSE(window.doubt());
  EXPECT_NEAR(static_cast<double>(window.rule().samples().size()), 300, 1);
}

TEST_F(Window, SeesTheEpochsWithinARepetition) {
  Steps steps(repeat(slow_shuffled(4096)), time_, Seconds(0.01));
  steps.warm_up(10);
  InputWindow window({.budget = Seconds(0.5)}, &steps.epochs());
  steps.measure(window);
  EXPECT_THAT(window.doubt().text, StartsWith("100 % of the examples came from buffers"));
}

TEST_F(Window, LetsBuffersFillBesideStepsThatDoNotWait) {
  Steps steps(shuffle(slowed(range(0, 4096, 1), time_), {.buffer = 2000}), time_, Seconds(0.001));
  InputWindow window(limits, &steps.epochs());
  steps.warm_up(1);
  window.begin();
  for (bool done = false; !done; done = window.add(0.001, Seconds(0))) steps.fetch();
  EXPECT_FALSE(window.doubt());
}

TEST_F(Window, WithoutAnInputIsTheRules) {
  InputWindow window(limits, nullptr);
  window.begin();
  int steps = 1;
  while (!window.add(0.001, Seconds(0))) ++steps;
  EXPECT_NEAR(steps, 300, 1);
  EXPECT_EQ(window.wait_share(), 0);
}

TEST_F(Window, RefusesLimitsThatCannotBe) {
  EXPECT_THROW(InputWindow({.min_time = Seconds(2), .budget = Seconds(0.2)}, nullptr), Error);
}

/// Calls `step` for each element, and says what `stage` says.
class ToldStage final : public Cursor {
 public:
  ToldStage(StageStatistics& stage, std::function<void(std::int64_t)> step) : stage_(stage), step_(std::move(step)) {}
  bool next(Element& element) override {
    step_(stage_.produced++);
    element.resize(1);
    element[0] = HostTensor::zeros({{1}, Dtype::f32});
    stage_.bytes += 4;
    return true;
  }
  std::vector<StageStatistics> statistics() const override { return {stage_}; }

 private:
  StageStatistics& stage_;
  std::function<void(std::int64_t)> step_;
};

Doubt doubt_of(std::function<void(StageStatistics&, std::int64_t)> step) {
  StageStatistics stage{.stage = "map", .workers = 4};
  Epochs epochs(
      [&](std::uint64_t) {
        return std::make_unique<ToldStage>(stage, [&](std::int64_t number) { step(stage, number); });
      },
      "test");
  Element element;
  const auto fetch = [&] { epochs.advance([&](Cursor& cursor) { return cursor.next(element); }); };
  fetch();
  InputWindow window(limits, &epochs);
  window.begin();
  do fetch();
  while (!window.add(0.01, Seconds(0)));
  window.end();
  return window.doubt();
}

TEST(States, WorkersThatChangedAreInDoubt) {
  const auto set_workers = [](int workers) {
    return [=](StageStatistics& stage, std::int64_t number) { stage.workers = number < 5 ? 4 : workers; };
  };
  for (const int workers : {4, 5, 3}) EXPECT_FALSE(doubt_of(set_workers(workers))) << workers;
  const Doubt doubt = doubt_of(set_workers(8));
  EXPECT_EQ(doubt.kind, DoubtKind::tuning);
  EXPECT_EQ(doubt.text,
            "AUTOTUNE changed the workers of 'map' from 4 to 8 while it was measured; a larger budget would tell");
  EXPECT_EQ(doubt_of(set_workers(1)).kind, DoubtKind::tuning);
}

using FirstReads = TemporaryFolder;

// Read past the page cache, as a file is that no program has read yet.
TEST_F(FirstReads, OfTheDiskAreInDoubt) {
  constexpr std::size_t bytes = 4 << 20;
  const std::string path = write("data", std::string(bytes, 'x'));
  const int file = ::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (file < 0) GTEST_SKIP() << "the file system of temporary files has no O_DIRECT";
  const std::unique_ptr<std::byte, decltype(&std::free)> buffer(
      static_cast<std::byte*>(std::aligned_alloc(4096, bytes)), &std::free);
  if (::pread(file, buffer.get(), bytes, 0) != static_cast<ssize_t>(bytes)) GTEST_SKIP() << "O_DIRECT does not work";
  const double before = bytes_read_from_storage().value_or(0);
  ASSERT_EQ(::pread(file, buffer.get(), bytes, 0), static_cast<ssize_t>(bytes));
  if (bytes_read_from_storage().value_or(0) < before + bytes) GTEST_SKIP() << "/proc/self/io does not count it";
  const Doubt doubt = doubt_of([&](StageStatistics&, std::int64_t number) {
    if (number == 5) static_cast<void>(::pread(file, buffer.get(), bytes, 0));
  });
  ::close(file);
  EXPECT_EQ(doubt.kind, DoubtKind::first_read);
  EXPECT_THAT(doubt.text, StartsWith("4 MiB came from the disk in this first epoch"));
  EXPECT_FALSE(doubt_of([](StageStatistics&, std::int64_t) {})) << "nothing was read";
}

TEST(BufferBalance, IsOfAllStagesTogether) {
  const std::vector<StageStatistics> from = {
      {.stage = "range"}, {.stage = "shuffle", .held = 100}, {.stage = "batch"}, {.stage = "prefetch", .held = 4}};
  std::vector<StageStatistics> to = {{.stage = "range", .produced = 500},
                                     {.stage = "shuffle", .produced = 400, .held = 200},
                                     {.stage = "batch", .produced = 12},
                                     {.stage = "prefetch", .produced = 16}};
  // 500 came in for 400, and 12 batches for 16.
  EXPECT_NEAR(buffer_balance(from, to, Seconds(1)).taken_over_given, 500.0 / 400 * 12 / 16, 1e-12);
  EXPECT_EQ(buffer_balance(from, to, Seconds(1)).stage, "shuffle");
  EXPECT_EQ(buffer_balance({}, to, Seconds(1)).taken_over_given, 1);
  to[1].produced = 0;  // served from behind it
  EXPECT_NEAR(buffer_balance(from, to, Seconds(1)).taken_over_given, 12.0 / 16, 1e-12);
}

// A full buffer is filled again when it is half empty: 16 batches left it for 12 that came in, of which the worker
// slept a half. It could have brought 24.
TEST(BufferBalance, OfWorkersThatHaveTimeLeftIsEven) {
  const std::vector<StageStatistics> from = {{.stage = "prefetch", .blocked = Seconds(3), .workers = 1, .held = 8}};
  std::vector<StageStatistics> to = {
      {.stage = "prefetch", .produced = 16, .blocked = Seconds(3.5), .workers = 1, .held = 4}};
  EXPECT_EQ(buffer_balance(from, to, Seconds(1)).taken_over_given, 1);
  EXPECT_NEAR(buffer_balance(from, to, Seconds(4)).taken_over_given, 12 / 16.0 / (1 - 0.125), 1e-12);
  to[0].blocked = from[0].blocked;
  EXPECT_NEAR(buffer_balance(from, to, Seconds(1)).taken_over_given, 12 / 16.0, 1e-12);
  to[0].blocked = Seconds(9);  // more than there was
  EXPECT_EQ(buffer_balance(from, to, Seconds(1)).taken_over_given, 1);
}

/// What a stage holds is what its source gave and it has not handed on, whatever stands around it.
TEST(Held, IsWhatHasNotBeenHandedOn) {
  const auto increment = std::make_shared<Increment>();
  const std::unique_ptr<Cursor> cursor = map(unbatch(batch(numbers(100, Taken::whole), 10)), increment)->open();
  Element element;
  std::int64_t passed = 0, never_given = 0;
  const auto unaccounted = [&] {
    const std::vector<StageStatistics> stages = cursor->statistics();
    return stages[3].held - (stages[2].produced - (passed - never_given));
  };
  while (cursor->next(element)) {
    ++passed;
    EXPECT_EQ(unaccounted(), 0);
    if (passed != 7) continue;
    passed += cursor->skip(5);
    never_given = unaccounted();  // what the source itself passed over
    EXPECT_GE(never_given, 0);
    EXPECT_LE(never_given, 5);
  }
  EXPECT_EQ(passed, 100);
  EXPECT_EQ(cursor->statistics()[3].held, 0);
}

TEST(Held, OfAPrefetchIsItsBuffer) {
  const std::unique_ptr<Cursor> cursor = prefetch(numbers(100, Taken::whole), 8)->open();
  Element element;
  ASSERT_TRUE(cursor->next(element));
  const StageStatistics before = cursor->statistics().back();
  EXPECT_LE(before.held, 8);
  read(*cursor);
  const StageStatistics after = cursor->statistics().back();
  EXPECT_EQ(after.held, 0);
  EXPECT_GT(after.source.count(), 0);  // what its thread was at
}

TEST(Held, OfParallelMapsIsWhatIsBetweenSourceAndConsumer) {
  const auto increment = std::make_shared<Increment>();
  const std::unique_ptr<Cursor> cursor = map(numbers(1000), increment, {.workers = 2})->open();
  EXPECT_EQ(cursor->skip(10), 10);
  read(*cursor);
  const std::vector<StageStatistics> stages = cursor->statistics();
  EXPECT_EQ(stages.back().held, 0);
  EXPECT_GT(stages.back().threads.cpu.count() + stages.back().source.count(), 0);
}

}  // namespace
}  // namespace gpubench
