#include "core/experiment/training/input_proof.h"

#include <gmock/gmock.h>
#include <numeric>

#include "core/results/column.h"
#include "core/results/input_cause.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using ::testing::HasSubstr;
using InputProofTest = support::TrainTest;

TEST_F(InputProofTest, MeasuresAllThreeWays) {
  const Blobs blobs(64);
  Trainer model = trainer(support::small_classifier());
  TrainingOptions options;
  options.limits.stopping = {.relative_error = 1e6, .min_time = Seconds(1e-3), .budget = Seconds(60)};
  options.limits.warmup.max_time = Seconds(0.05);
  const DatasetPtr dataset = batches_of({blobs.points, blobs.one_hot}, 16, 1);
  const InputProof proof = prove_input(model, *dataset, options);
  for (const char* column : {"step_time_s", "cached_step_time_s", "resident_step_time_s", "input_ratio"}) {
    EXPECT_GT(*number_in(proof.record.get(column)), 0) << column;
    EXPECT_NE(column_of(column).description, "") << column;
  }
  EXPECT_THAT(std::get<std::string>(proof.record.get("input_cause")), HasSubstr("bound"));
  EXPECT_NO_THROW(input_cause_kinds.parse(to_text(proof.record.get("input_cause_kind"))));
  // All that was measured with the pipeline is in the row.
  const double mean =
      std::accumulate(proof.samples.begin(), proof.samples.end(), 0.0) / static_cast<double>(proof.samples.size());
  const auto number = [&](const char* column) { return *number_in(proof.record.get(column)); };
  EXPECT_EQ(number("steps"), static_cast<double>(proof.samples.size()));
  EXPECT_NEAR(number("examples_per_s") * mean, 16, 1e-6);
  EXPECT_NEAR(number("input_ratio"), mean / number("resident_step_time_s"), 1e-6);

  options.resident = true;
  EXPECT_ERROR(HasSubstr("leave 'resident' out"), prove_input(model, *dataset, options));
}

TEST_F(InputProofTest, KeepsNoMoreElementsThanAskedFor) {
  const Blobs blobs(64);
  const DatasetPtr dataset = batches_of({blobs.points, blobs.one_hot}, 16);
  const auto kept = [&](std::size_t most, std::size_t bytes) {
    return kept_elements(*dataset->open(), most, bytes).size();
  };
  EXPECT_EQ(kept(3, 1 << 20), 3U);
  EXPECT_EQ(kept(100, 1 << 20), 4U);
  EXPECT_EQ(kept(100, 1), 1U);
  const std::unique_ptr<Cursor> ended = dataset->open();
  ended->skip(4);
  EXPECT_ERROR("measure.input_proof: the dataset is empty", kept_elements(*ended, 1, 1));
}

TEST_F(InputProofTest, OpensNoEpochForBatchesThatLieReady) {
  const DatasetPtr dataset = batches_of({Blobs(32).points}, 16);
  const DatasetPtr ready = repeated_elements(kept_elements(*dataset->open(), 10, 1 << 20), dataset->element_types());
  EXPECT_EQ(ready->size(), endless);
  const std::unique_ptr<Cursor> cursor = ready->open();
  Element element, first;
  ASSERT_TRUE(cursor->next(first));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(cursor->next(element));
  EXPECT_EQ(element[0].data(), first[0].data());
}

TEST_F(InputProofTest, NeedsTwoWholeBatches) {
  const Blobs blobs(24);
  Trainer model = trainer(support::small_classifier());
  TrainingOptions options;
  options.limits.stopping = {.relative_error = 10, .min_time = Seconds(0.02), .budget = Seconds(10)};
  options.limits.warmup.max_time = Seconds(0.02);
  EXPECT_ERROR(
      "measure.input_proof: resident batches must be equal, got 16 and 8 examples; the "
      "dataset needs 2 whole ones",
      prove_input(model, *batches_of({blobs.points, blobs.one_hot}, 16), options));
}

}  // namespace
}  // namespace gpubench
