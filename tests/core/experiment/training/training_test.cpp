#include "core/experiment/training/training.h"

#include <gmock/gmock.h>
#include <numeric>

#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "tests/core/experiment/declared.h"
#include "tests/core/experiment/slow_input.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Measure = support::TrainTest;

/// Ends at the first look at which there is an interval, however slow the machine is.
TrainingOptions quick_training() {
  TrainingOptions options;
  options.limits.stopping = {.relative_error = 1e6, .min_time = Seconds(1e-3), .budget = Seconds(60)};
  options.limits.warmup.max_time = Seconds(0.05);
  return options;
}

TEST_F(Measure, FillsTheStandardColumns) {
  const Blobs blobs(64);
  Trainer model = trainer(support::small_classifier());
  TrainingOptions options = quick_training();
  options.best = {.flops_per_s = 1e12, .bytes_per_s = 1e13};  // more than any processor reaches
  const auto [record, samples, doubt, timeline, profile, ranks] =
      measure_training(model, *batches_of({blobs.points, blobs.one_hot}, 16, 1), options);
  EXPECT_EQ(timeline, nullptr);  // nothing was traced
  EXPECT_EQ(number(record, "batch_size"), 16);
  EXPECT_EQ(number(record, "steps"), static_cast<double>(samples.size()));
  EXPECT_GT(number(record, "examples_per_s"), 0);
  expect_declared(record, "training");
  EXPECT_LE(number(record, "step_time_low_s"), number(record, "step_time_s"));
  EXPECT_GE(number(record, "step_time_high_s"), number(record, "step_time_s"));
  EXPECT_GE(number(record, "step_time_p95_s"), number(record, "step_time_s"));
  EXPECT_GE(number(record, "input_wait_share"), 0);
  EXPECT_LT(number(record, "input_wait_share"), 1);
  // Two matmuls forward, three backward: 2 * 16 * (2 * 4 * 8 + 3 * 8 * 3), and what is element by element.
  EXPECT_GT(number(record, "flops_per_step"), 2 * 16 * (2 * 4 * 8 + 3 * 8 * 3));
  EXPECT_NEAR(number(record, "mfu"), number(record, "flops_per_s") / 1e12, 1e-9);
  // At least the inputs, and the weights with their update.
  EXPECT_GT(number(record, "bytes_per_step"), 4 * (16 * 4 + 2 * (4 * 8 + 8 * 3)));
  EXPECT_NEAR(number(record, "bandwidth_share"),
              number(record, "mfu") * number(record, "bytes_per_step") / number(record, "flops_per_step") / 10, 1e-9);
  EXPECT_FALSE(record.has("unaligned_share"));  // processors have no tensor cores
  EXPECT_GT(number(record, "peak_memory_bytes"), 0);
  EXPECT_EQ(std::get<std::string>(record.get("device")), "cpu:0");
  EXPECT_EQ(std::get<std::string>(record.get("execution")), "graph");
  EXPECT_TRUE(record.has("loss"));
  EXPECT_TRUE(record.has("accuracy"));
  EXPECT_TRUE(record.has("stop_reason"));
}

TEST_F(Measure, TheSharesOfAStepOnTheCpuSumToOne) {
  const Blobs blobs(64);
  TrainingOptions options = quick_training();
  options.limits.trace.new_tracer = &Devices::new_tracer;
  for (const Execution execution : {Execution::graph, Execution::eager}) {
    CompileConfig config = classifier();
    config.executor.execution = execution;
    Trainer model = trainer(support::small_classifier(), std::move(config));
    const Record record = measure_training(model, *batches_of({blobs.points, blobs.one_hot}, 16), options).record;
    EXPECT_NEAR(sum_of_shares(record), 1, 1e-6);
    EXPECT_GT(number(record, "compute_share"), 0);
    EXPECT_GT(number(record, "launch_share"), 0);
    EXPECT_LE(number(record, "other_share"), 0.05);
    EXPECT_GE(number(record, "device_busy"), number(record, "compute_share"));
    EXPECT_GT(number(record, "observer_share"), 0);
    expect_declared(record, "training");
  }
}

TEST_F(Measure, TimesAndMemoryOfLayersOnlyIfAsked) {
  const Blobs blobs(64);
  TrainingOptions options = quick_training();
  options.limits.trace.new_tracer = &Devices::new_tracer;
  Trainer model = trainer(support::small_classifier());
  const DatasetPtr input = batches_of({blobs.points, blobs.one_hot}, 16);
  EXPECT_FALSE(measure_training(model, *input, options).profile.has_value());
  options.limits.trace.profiles = true;
  const TrainingMeasurement measured = measure_training(model, *input, options);
  ASSERT_TRUE(measured.profile.has_value());
  double sum = 0;
  for (const ProfileEntry& layer : by_layer(*measured.profile)) sum += layer.time / measured.profile->step();
  EXPECT_NEAR(sum, 1, 0.02);
  EXPECT_FALSE(measured.profile->memory.empty());
  EXPECT_LE(measured.profile->gaps.size(), most_gaps);
  EXPECT_EQ(profile_training(model, *input, 4, "profile").steps, 4);
}

TEST_F(Measure, RatesAreByTheMeanStep) {
  const Blobs blobs(64);
  Trainer model = trainer(support::small_classifier());
  const auto [record, samples, doubt, timeline, profile, ranks] =
      measure_training(model, *batches_of({blobs.points, blobs.one_hot}, 16, 1), quick_training());
  const double steps_per_s = static_cast<double>(samples.size()) / std::accumulate(samples.begin(), samples.end(), 0.0);
  EXPECT_NEAR(number(record, "examples_per_s") / (16 * steps_per_s), 1, 1e-9);
  EXPECT_NEAR(number(record, "flops_per_s") / (number(record, "flops_per_step") * steps_per_s), 1, 1e-9);
  EXPECT_EQ(timeline, nullptr);
}

TEST_F(Measure, FlopsAreThoseOfAWholeBatch) {
  const Blobs whole(32), with_rest(40);
  Trainer first = trainer(support::small_classifier()), second = trainer(support::small_classifier());
  const auto expected = measure_training(first, *batches_of({whole.points, whole.one_hot}, 32), quick_training());
  for (int attempt = 0; attempt < 4; ++attempt) {  // a warm-up may end with either
    const auto measured =
        measure_training(second, *batches_of({with_rest.points, with_rest.one_hot}, 32), quick_training());
    EXPECT_EQ(number(measured.record, "flops_per_step"), number(expected.record, "flops_per_step"));
  }
}

TEST_F(Measure, PartialBatchesAreNoSamples) {
  const Blobs blobs(40);
  Trainer model = trainer(support::small_classifier());
  const auto measured = measure_training(model, *batches_of({blobs.points, blobs.one_hot}, 32), quick_training());
  const std::int64_t all = runtime.variables().read(*model.config().optimizer->iterations()).values<std::int64_t>()[0];
  EXPECT_LE(2 * static_cast<std::int64_t>(measured.samples.size()), all);
}

TEST_F(Measure, DoubtsWhatBuffersGave) {
  const Blobs blobs(64);
  Trainer model = trainer(support::small_classifier());
  TrainingOptions options = quick_training();
  options.limits.warmup.max_time = options.limits.warmup.window_time = Seconds(1e-9);
  options.limits.stopping.budget = options.limits.stopping.min_time = Seconds(1e-6);
  // Filled before the first step; as one long epoch it is far from its end.
  const DatasetPtr slow =
      support::slowed(from_tensor_slices({blobs.points, blobs.one_hot}), std::make_shared<support::InventedTime>());
  const DatasetPtr input = batch(shuffle(repeat(slow, 50), {.buffer = 10'000}), 16);
  const TrainingMeasurement measured = measure_training(model, *input, options);
  EXPECT_THAT(
      std::get<std::string>(measured.record.get("quality")),
      StartsWith("unreliable: 100 % of the examples came from buffers that were filled before measuring began"));
  EXPECT_EQ(measured.doubt.kind, DoubtKind::buffers);
  EXPECT_EQ("unreliable: " + measured.doubt.text, std::get<std::string>(measured.record.get("quality")));
  EXPECT_EQ(to_text(measured.record.get("doubt")), "buffers");
}

TEST_F(Measure, NeedsACompiledModel) {
  const Blobs blobs(40);
  Trainer uncompiled(runtime, factory, support::small_classifier(), {});
  EXPECT_ERROR(HasSubstr("has not been compiled"),
               measure_training(uncompiled, *batches_of({blobs.points, blobs.one_hot}, 32), quick_training()));
}

TrainingMeasurement half(std::size_t steps, double step, double wait_share, std::int64_t memory) {
  TrainingMeasurement measured;
  measured.samples.assign(steps, step);
  set_step_times(measured.record, measured.samples, 32, {}, Scatter::judged);
  measured.record.set("warmup_s", 0.1);
  measured.record.set("input_wait_share", wait_share);
  measured.record.set("peak_memory_bytes", memory);
  measured.record.set("flops_per_step", 1e6);
  set_work_rates(measured.record, estimate_mean(measured.samples), {.flops_per_s = 1e9, .bytes_per_s = {}});
  measured.record.set("loss", step);
  measured.record.set("stop_reason", std::string("precise"));
  return measured;
}

TEST(JoinedHalves, MakeEveryFigureTogether) {
  const TrainingMeasurement both = join_measurements(half(100, 0.001, 0.2, 5), half(300, 0.003, 0.4, 3), {});
  const auto number = [&](const char* column) { return *number_in(both.record.get(column)); };
  EXPECT_EQ(both.samples.size(), 400U);
  EXPECT_EQ(number("steps"), 400);
  EXPECT_NEAR(number("examples_per_s"), 32 * 400 / (0.1 + 0.9), 1e-6);
  EXPECT_EQ(number("step_time_s"), 0.003);
  EXPECT_NEAR(number("input_wait_share"), (0.1 * 0.2 + 0.9 * 0.4), 1e-9);  // of the time
  EXPECT_NEAR(number("loss"), (100 * 0.001 + 300 * 0.003) / 400, 1e-9);    // of the steps
  EXPECT_NEAR(number("flops_per_s"), 1e6 * 400, 1e-3);
  EXPECT_NEAR(number("warmup_s"), 0.2, 1e-12);
  EXPECT_EQ(number("peak_memory_bytes"), 5);
  EXPECT_EQ(std::get<std::string>(both.record.get("stop_reason")), "precise; precise");
}

TEST(JoinedHalves, AreInDoubtWhereEitherIs) {
  TrainingMeasurement second = half(100, 0.001, 0, 1);
  second.doubt = {DoubtKind::buffers, "31 % came from buffers"};
  const TrainingMeasurement both = join_measurements(half(100, 0.001, 0, 1), second, {});
  EXPECT_EQ(std::get<std::string>(both.record.get("quality")), "unreliable: 31 % came from buffers");
  EXPECT_EQ(to_text(both.record.get("doubt")), "buffers");
  EXPECT_EQ(std::get<std::string>(
                join_measurements(half(100, 0.001, 0, 1), half(100, 0.001, 0, 1), {}).record.get("quality")),
            "ok");
}

TEST(JoinedHalves, HaveTheIntervalOfAllSamples) {
  // Each half is precise, and they differ.
  const TrainingMeasurement both = join_measurements(half(100, 0.001, 0, 1), half(100, 0.002, 0, 1), {});
  EXPECT_THAT(std::get<std::string>(both.record.get("quality")),
              ::testing::StartsWith("unreliable: the median is known"));
}

}  // namespace

}  // namespace gpubench
