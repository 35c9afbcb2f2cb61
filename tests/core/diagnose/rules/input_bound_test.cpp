#include <gmock/gmock.h>

#include "tests/core/diagnose/row.h"

namespace gpubench::input_bound_test {
namespace {

using support::judged;
using support::trained_row;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Measured with the input taken away: mean steps, and what the pipeline's slowest thread does.
Record proven(double full, double cached, double resident, double waited, std::string device = "cpu:0") {
  const double ratio = full / resident;
  return trained_row({{"device", std::move(device)},
                      {"examples_per_s", 32 / full},
                      {"cached_step_time_s", cached},
                      {"resident_step_time_s", resident},
                      {"input_ratio", ratio},
                      {"input_ratio_low", ratio * 0.99},
                      {"input_ratio_high", ratio * 1.01},
                      {"input_wait_share", waited},
                      {"input_cause", std::string("read bound, its slowest thread (map's) waits 97 % of its time")},
                      {"input_cause_kind", std::string("reading")}});
}

TEST(InputBound, FiresFromTheLimitOn) {
  EXPECT_FALSE(judged(input_bound, trained_row({{"input_wait_share", 0.0499}})));
  const auto finding = judged(input_bound, trained_row({{"input_wait_share", 0.05}}));
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->headline, "input bound: 5 % of the step");
  EXPECT_THAT(finding->evidence, HasSubstr("moderately"));
  EXPECT_THAT(finding->flag, HasSubstr("gb.measure.input_proof"));
  EXPECT_THAT(judged(input_bound, trained_row({{"input_wait_share", 0.3}}))->evidence, HasSubstr("highly"));
}

TEST(InputBound, IsSilentWithoutItsColumns) {
  Record row = trained_row();
  row.set("input_wait_share", Cell{});
  EXPECT_FALSE(judged(input_bound, row));
}

TEST(InputBound, AProofNamesTheKind) {
  const auto reading = judged(input_bound, proven(2, 1.1, 1, 0.5));
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->headline, "input bound (reading): 50 % of the step");
  EXPECT_EQ(reading->evidence,
            "highly: a step takes 2.00 times [1.98, 2.02] what it takes on resident data, and it "
            "waits for its input 50 % of its time; read bound, its slowest thread (map's) waits "
            "97 % of its time");
  EXPECT_THAT(reading->doubt, IsEmpty());
  EXPECT_EQ(reading->remedies.front(), Remedy::parallel_reads);
  EXPECT_NEAR(reading->gain.interval->low, 1 - 1 / 1.98, 1e-12);

  Record processing = proven(2, 1.1, 1, 0.5);
  processing.set("input_cause_kind", std::string("processing"));
  EXPECT_EQ(judged(input_bound, processing)->kind, "processing");
  EXPECT_EQ(judged(input_bound, processing)->remedies.front(), Remedy::more_workers);
  EXPECT_FALSE(judged(input_bound, proven(1.02, 1.01, 1, 0.02)));
}

TEST(InputBound, ReadsTheKindAndNotTheSentence) {
  for (const char* kind : {"reading", "processing", "unknown", "of another program", ""}) {
    Record row = proven(2, 1.1, 1, 0.5);
    row.set("input_cause_kind", std::string(kind));
    const auto finding = judged(input_bound, row);
    for (const char* sentence : {"x", "read bound", "processing bound, its slowest thread computes"}) {
      row.set("input_cause", std::string(sentence));
      EXPECT_EQ(judged(input_bound, row)->kind, finding->kind) << kind;
      EXPECT_EQ(judged(input_bound, row)->remedies, finding->remedies) << kind;
    }
  }
}

TEST(InputBound, KnowsTransfersOnlyWhereThereAreAny) {
  EXPECT_EQ(judged(input_bound, proven(2, 1.5, 1, 0.5))->kind, "hand-over");
  const auto transfer = judged(input_bound, proven(2, 1.5, 1, 0.5, "gpu:0"));
  EXPECT_EQ(transfer->kind, "transfer");
  EXPECT_THAT(transfer->remedies, ElementsAre(Remedy::prefetch_to_device, Remedy::pinned_memory));
  // Copies run beside the host, which waits for nothing.
  EXPECT_EQ(judged(input_bound, proven(2, 1.5, 1, 0.01, "gpu:0"))->doubt, "");
}

TEST(InputBound, IsInDoubtWhereWaitingContradictsTheProof) {
  EXPECT_EQ(judged(input_bound, proven(1.04, 1.01, 1, 0.86))->doubt,
            "a step takes 1.04 times [1.03, 1.05] what it takes on resident data, and yet it waits for its input 86 % "
            "of its time");
  EXPECT_THAT(judged(input_bound, proven(2, 1.1, 1, 0.01))->doubt, HasSubstr("may take cores from the step"));
  EXPECT_THAT(judged(input_bound, proven(1.2, 1.01, 1, 0.6))->doubt, HasSubstr("may take cores"));
  EXPECT_EQ(judged(input_bound, proven(1.4, 1.01, 1, 0.19))->doubt, "");
}

TEST(InputBound, ClaimsNothingThatTheIntervalDoesNotShow) {
  Record loose = proven(1.3, 1.1, 1, 0.25);
  loose.set("input_ratio_low", 1.04);
  loose.set("input_ratio_high", 1.6);
  EXPECT_THAT(judged(input_bound, loose)->doubt, HasSubstr("reaches below 1.05"));
  loose.set("input_ratio_low", Cell{});
  EXPECT_THAT(judged(input_bound, loose)->doubt, HasSubstr("too few steps"));
}

}  // namespace
}  // namespace gpubench::input_bound_test
