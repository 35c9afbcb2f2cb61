#include "core/experiment/input_proof.h"

#include <gmock/gmock.h>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/results/column.h"
#include "tests/core/train/fixture.h"

namespace gpubench {
namespace {

using support::Blobs;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
using InputProofTest = support::TrainTest;

/// On a device with the host's memory, where waiting explains the difference.
InputTimes times(double full, double cached, double resident) {
  const double ratio = full / resident;
  return {.full_s = full,
          .cached_s = cached,
          .resident_s = resident,
          .ratio = {ratio, {ratio * 0.99, ratio * 1.01}},
          .wait_share = 1 - resident / full};
}
InputTimes with_wait(InputTimes times, double wait_share) {
  times.wait_share = wait_share;
  return times;
}
constexpr const char* bound = "read bound, its slowest thread waits";

TEST(JudgeInput, NamesDegreeAndKind) {
  EXPECT_EQ(judge_input(times(1.02, 1.01, 1), bound),
            "not input bound: a step takes 1.02 times [1.01, 1.03] what it takes on resident data");
  EXPECT_THAT(judge_input(times(1.2, 1.01, 1), bound), StartsWith("moderately input bound: "));
  EXPECT_EQ(judge_input(times(2, 1.1, 1), bound),
            "highly input bound: a step takes 2.00 times [1.98, 2.02] what it takes on resident data, and it waits for "
            "its input 50 % of its time; read bound, its slowest thread waits");
}

TEST(JudgeInput, KnowsTransfersOnlyWhereThereAreAny) {
  InputTimes ready_ones_cost = times(2, 1.5, 1);
  EXPECT_THAT(judge_input(ready_ones_cost, bound),
              HasSubstr("; hand-over bound, 50 % of it with batches that lie ready: the host's own work"));
  ready_ones_cost.transfers = true;
  EXPECT_THAT(judge_input(ready_ones_cost, bound),
              HasSubstr("; transfer bound, 50 % of it with batches that lie ready"));
  // Copies run beside the host, which waits for nothing.
  EXPECT_THAT(judge_input(with_wait(ready_ones_cost, 0.01), bound), HasSubstr("transfer bound"));
}

TEST(JudgeInput, LeavesOpenWhatContradictsTheWaiting) {
  EXPECT_EQ(
      judge_input(with_wait(times(1.04, 1.01, 1), 0.86), bound),
      "whether it is input bound stays open: a step takes 1.04 times [1.03, 1.05] what it takes on resident data, "
      "and yet it waits for its input 86 % of its time");
  EXPECT_EQ(
      judge_input(with_wait(times(2, 1.1, 1), 0.01), bound),
      "whether it is input bound stays open: a step takes 2.00 times [1.98, 2.02] what it takes on resident data, "
      "but it waits for its input 1 % of its time; 10 % of the difference is there with batches that lie ready, "
      "and the pipeline's threads may take cores from the step");
  EXPECT_THAT(judge_input(with_wait(times(1.2, 1.01, 1), 0.6), bound), StartsWith("whether it is input bound stays"));
  EXPECT_THAT(judge_input(with_wait(times(1.4, 1.01, 1), 0.19), bound), StartsWith("moderately input bound"));
}

TEST(JudgeInput, LeavesOpenWhatBuffersHide) {
  InputTimes hidden = times(1.02, 1.01, 1);
  hidden.doubt = "31 % of the examples came from buffers";
  EXPECT_EQ(judge_input(hidden, bound),
            "whether it is input bound stays open: 31 % of the examples came from buffers; a step takes 1.02 times "
            "[1.01, 1.03] what it takes on resident data");
}

TEST(JudgeInput, ClaimsNothingThatTheIntervalDoesNotShow) {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  InputTimes loose = times(1.3, 1.1, 1);
  loose.ratio = {1.3, {1.04, 1.6}};
  EXPECT_EQ(judge_input(loose, bound),
            "input bound, but not proven: a step takes 1.30 times [1.04, 1.60] what it takes on resident data");
  loose = times(2, 1.1, 1);
  loose.ratio = {2, {-unbounded, unbounded}};
  EXPECT_EQ(judge_input(loose, bound),
            "input bound, but not proven: a step takes 2.00 times what it takes on resident data, of too few steps for "
            "an interval");
  loose = times(1.01, 1, 1);
  loose.ratio = {1.01, {0.5, 1.5}};
  EXPECT_THAT(judge_input(loose, bound), StartsWith("not input bound, but not proven: "));
}

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
  EXPECT_THAT(std::get<std::string>(proof.record.get("verdict")), HasSubstr("input bound"));
  // All that was measured with the pipeline is in the row.
  const double mean =
      std::accumulate(proof.samples.begin(), proof.samples.end(), 0.0) / static_cast<double>(proof.samples.size());
  const auto number = [&](const char* column) { return *number_in(proof.record.get(column)); };
  EXPECT_EQ(number("steps"), static_cast<double>(proof.samples.size()));
  EXPECT_NEAR(number("examples_per_s") * mean, 16, 1e-6);
  EXPECT_NEAR(number("input_ratio"), mean / number("resident_step_time_s"), 1e-6);

  options.resident = true;
  EXPECT_THAT([&] { prove_input(model, *dataset, options); }, ThrowsMessage<Error>(HasSubstr("leave 'resident' out")));
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
  EXPECT_THAT([&] { kept_elements(*ended, 1, 1); }, ThrowsMessage<Error>("measure.input_proof: the dataset is empty"));
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
  EXPECT_THAT(
      [&] {
        prove_input(model, *batches_of({blobs.points, blobs.one_hot}, 16), options);
      },
      ThrowsMessage<Error>("measure.input_proof: resident batches must be equal, got 16 and 8 examples; the "
                           "dataset needs 2 whole ones"));
}

}  // namespace
}  // namespace gpubench
