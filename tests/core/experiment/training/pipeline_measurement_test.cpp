#include "core/experiment/training/pipeline_measurement.h"

#include <gmock/gmock.h>
#include <numeric>

#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/shuffle.h"
#include "tests/core/experiment/declared.h"
#include "tests/core/experiment/slow_input.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::ContainsRegex;

PipelineLimits quick_pipeline() {
  PipelineLimits limits;
  limits.stopping.budget = Seconds(0.05);
  limits.stopping.min_time = Seconds(0.01);
  limits.warmup.max_time = Seconds(0.02);
  return limits;
}

TEST(MeasurePipeline, CountsElementsBytesAndEpochs) {
  const DatasetPtr dataset = prefetch(batch(from_tensor_slices({HostTensor::zeros({{64, 4}, Dtype::f32})}), 16), 2);
  const auto [record, samples, stages, consumer, measured] = measure_pipeline(*dataset, quick_pipeline());
  const double elements = number(record, "elements");
  EXPECT_GE(elements, static_cast<double>(samples.size()));
  // Every element has 16 rows of 4 floats.
  EXPECT_NEAR(number(record, "bytes_per_s") / number(record, "elements_per_s"), 16 * 4 * 4, 1e-6);
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
  EXPECT_NEAR(number(record, "elements_per_s") * mean, 1, 1e-9);
  EXPECT_NEAR(number(record, "epochs"), elements / 4, 2);
  EXPECT_GT(number(record, "first_element_s"), 0);
  expect_declared(record, "pipeline");

  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0].stage, "from_tensor_slices");
  EXPECT_EQ(stages[2].stage, "prefetch");
  // Also those of whole samples that do not count, because other programs took the processor.
  EXPECT_GE(static_cast<double>(stages[2].produced), elements);
  const auto in_a_sample = static_cast<std::int64_t>(elements) / static_cast<std::int64_t>(samples.size());
  EXPECT_EQ(stages[2].produced % in_a_sample, 0);
}

/// Shuffled as a whole; its elements cost nothing but a wait that is invented.
DatasetPtr filled_at_once(std::int64_t elements) {
  return shuffle(support::slowed(range(0, elements, 1), std::make_shared<support::InventedTime>()),
                 {.buffer = elements});
}

/// How long the elements take that lie in the buffer after the first.
Seconds time_of_rest(const Dataset& dataset) {
  const std::unique_ptr<Cursor> cursor = dataset.open();
  Element element;
  cursor->next(element);
  const Stopwatch watch;
  while (cursor->next(element)) continue;
  return watch.elapsed();
}

TEST(MeasurePipeline, DoubtsWhatBuffersGave) {
  constexpr Seconds far_beyond_a_sample{0.05};
  std::int64_t elements = 1 << 12;
  while (time_of_rest(*filled_at_once(elements)) < far_beyond_a_sample) elements *= 2;
  PipelineLimits limits = quick_pipeline();
  limits.warmup.max_time = limits.warmup.window_time = Seconds(1e-9);
  limits.stopping.budget = limits.stopping.min_time = Seconds(1e-6);
  const PipelineMeasurement measured = measure_pipeline(*filled_at_once(elements), limits);
  // Where other programs take the processor, samples are repeated until the buffer is filled again for the next epoch.
  EXPECT_THAT(
      std::get<std::string>(measured.record.get("quality")),
      ContainsRegex("^unreliable: (100 % of the examples came from buffers that were filled before measuring began|"
                    "[0-9]+ % of what the source gave went into buffers that were still filling up)"));
}

TEST(MeasurePipeline, NeedsElements) {
  const DatasetPtr one = batch(from_tensor_slices({HostTensor::zeros({{1}, Dtype::f32})}), 1);
  class Empty final : public Transformation {
   public:
    explicit Empty(DatasetPtr source) : Transformation(std::move(source)) {}
    std::string_view stage() const override { return "empty"; }
    std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
      std::unique_ptr<Cursor> cursor = source().open(epoch, options);
      cursor->skip(1);
      return cursor;
    }
  } empty(one);
  EXPECT_ERROR("measure.pipeline: the dataset is empty", measure_pipeline(empty, quick_pipeline()));
}

}  // namespace
}  // namespace gpubench
