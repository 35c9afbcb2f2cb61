#include "core/diagnose/remedy_effect.h"

#include <gmock/gmock.h>

#include "tests/core/diagnose/row.h"

namespace gpubench::remedy_effect_test {
namespace {

using support::trained_row;
using ::testing::DoubleNear;
using ::testing::Optional;

std::optional<double> at_most(Remedy remedy, const Record& more, const RunFacts& facts = {}) {
  const Record row = trained_row(more);
  return at_most_times_as_fast(remedy, Evidence(row, facts));
}

auto times(double value) {
  return Optional(DoubleNear(value, 1e-9));
}

std::optional<Share> expected(Remedy remedy, const Record& more) {
  static const RunFacts facts;
  const Record row = trained_row(more);
  return expected_gain(remedy, diagnose(row, facts).findings, Evidence(row, facts));
}

TEST(RemedyEffect, TheTableIsInTheOrderOfTheEnum) {
  ASSERT_EQ(remedy_effects().size(), remedies().size());
  for (const RemedyText& text : remedies()) {
    EXPECT_EQ(effect_of(text.remedy).remedy, text.remedy) << text.name;
    EXPECT_FALSE(effect_of(text.remedy).removes.empty()) << text.name;
  }
}

const Record waiting{{"input_wait_share", 0.4}, {"compute_share", 0.5}, {"mfu", 0.25},        {"launch_share", 0.05},
                     {"host_share", 0.03},      {"copy_share", 0.01},   {"other_share", 0.01}};

TEST(AtMost, IsOneOverWhatStays) {
  EXPECT_THAT(at_most(Remedy::more_workers, waiting), times(1 / 0.6));
  EXPECT_THAT(at_most(Remedy::prefetch_to_device, waiting), times(1 / 0.51));
  EXPECT_THAT(at_most(Remedy::fused_kernels, waiting), times(1 / (0.25 + 0.42)));
}

TEST(AtMost, APrefetchHidesNoMoreThanTheRestOfTheStep) {
  EXPECT_THAT(at_most(Remedy::prefetch, waiting), times(1 / 0.6));
  EXPECT_THAT(at_most(Remedy::prefetch, {{"input_wait_share", 0.8}, {"compute_share", 0.15}}), times(1 / 0.8));
}

TEST(AtMost, HoldsAtTheEndsOfIntervals) {
  Record row = waiting;
  row.set("input_wait_low_share", 0.35);
  row.set("input_wait_high_share", 0.5);
  EXPECT_THAT(at_most(Remedy::more_workers, row), times(2));
  row.set("compute_low_share", 0.3);
  row.set("compute_high_share", 0.7);
  EXPECT_THAT(at_most(Remedy::more_workers, row), times(1 / 0.4)) << "the kernels may take less";
}

TEST(AtMost, ProcessorsMayGetFasterWithoutThePipelinesWork) {
  Record row = waiting;
  EXPECT_THAT(at_most(Remedy::cache, row), times(1 / 0.52)) << "launches and the host may get faster";
  row.set("device", std::string("cpu:0"));
  EXPECT_THAT(at_most(Remedy::cache, row), times(1 / (0.25 + 0.02)));
  EXPECT_THAT(at_most(Remedy::more_workers, row), times(1 / 0.6)) << "it takes no work from the cores";
}

TEST(AtMost, ALargerBatchLeavesTheArithmeticOfItsExamples) {
  EXPECT_EQ(at_most(Remedy::larger_batch, waiting), std::nullopt) << "what is fixed is not known";
  Record row = waiting;
  row.set("flops_per_step", 400.0);
  row.set("fixed_flops_per_step", 300.0);
  EXPECT_THAT(at_most(Remedy::larger_batch, row), times(1 / 0.0625));
  row.set("mfu_low", 0.2);
  row.set("mfu_high", 0.3);
  EXPECT_THAT(at_most(Remedy::larger_batch, row), times(1 / 0.05));
  row.set("fixed_flops_per_step", 400.0);
  EXPECT_EQ(at_most(Remedy::larger_batch, row), std::nullopt) << "nothing is known to stay";
}

TEST(AtMost, AReplicaThatWaitsKeepsItsWork) {
  const Record even{{"peer_wait_share", 0.24},
                    {"compute_share", 0.5},
                    {"host_share", 0.25},
                    {"replicas", std::int64_t{2}},
                    {"last_rank_share", 1.0}};
  EXPECT_THAT(at_most(Remedy::balanced_shares, even), times(1 / 0.52));
  Record many = even;
  many.set("replicas", std::int64_t{4});
  EXPECT_THAT(at_most(Remedy::balanced_shares, many), times(1 / 0.04)) << "the whole wait may be that of one";
  many.set("replicas", std::int64_t{8});
  EXPECT_EQ(at_most(Remedy::balanced_shares, many), std::nullopt);
}

TEST(AtMost, OtherArithmeticIsFasterByTheRatioOfThePeaks) {
  const Record row{{"precision", std::string("float32")}, {"compute_share", 0.9}, {"launch_share", 0.07}};
  const RunFacts h200 = support::h200_facts();
  const auto [float32, tf32, half] = h200.devices[0].peaks;
  EXPECT_THAT(at_most(Remedy::mixed_precision, row, h200), times(1 / (0.9 * *float32 / *half + 0.07 + 0.03)));
  EXPECT_THAT(at_most(Remedy::tensor_float32, row, h200), times(1 / (0.9 * *float32 / *tf32 + 0.07 + 0.04)));
}

TEST(Expected, IsTheGainsOfTheFindingsAsFarAsTheRemedyReaches) {
  // 2000 small kernels lose 40 % of the step, which a plan does not change.
  const Record small{{"execution", std::string("eager")},
                     {"launch_share", 0.3},
                     {"host_share", 0.1},
                     {"compute_share", 0.58},
                     {"mfu", 0.18},
                     {"kernels", std::int64_t{2000}}};
  EXPECT_NEAR(expected(Remedy::graph, small)->value, 0.4, 1e-12);
  EXPECT_NEAR(expected(Remedy::larger_batch, small)->value, 0.7, 1e-12);
  EXPECT_FALSE(expected(Remedy::prefetch, small)) << "no finding proposes it";
  EXPECT_NEAR(expected(Remedy::prefetch, {{"input_wait_share", 0.8}, {"compute_share", 0.15}})->value, 0.2, 1e-12);
}

}  // namespace
}  // namespace gpubench::remedy_effect_test
