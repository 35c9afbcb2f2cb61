// Findings about what the device could do: memory, precision, sizes, bandwidth and arithmetic.
#include <gmock/gmock.h>

#include "tests/core/diagnose/row.h"

namespace gpubench::device_limits_test {
namespace {

using support::h200_facts;
using support::judged;
using support::trained_row;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Record float32{{"precision", std::string("float32")}};

TEST(MemoryLimit, OfAStepThatRanOutIsTheVerdict) {
  const Record row{{"status", std::string("out_of_memory")}, {"detail", std::string("gpu:0 has 3 GiB")}};
  const auto finding = judged(memory_limit, row);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->headline, "out of memory");
  EXPECT_EQ(finding->evidence, "gpu:0 has 3 GiB");
  EXPECT_EQ(finding->remedies.front(), Remedy::smaller_batch);
}

TEST(MemoryLimit, NoSmallerBatchMakesRoomForVariables) {
  const Record row{{"status", std::string("out_of_memory")}, {"memory_of", std::string("variables")}};
  const auto finding = judged(memory_limit, row);
  EXPECT_EQ(finding->headline, "out of memory: weights and optimizer state alone are too large");
  EXPECT_THAT(finding->remedies, ElementsAre(Remedy::divided_layers));
}

TEST(MemoryLimit, NearTheLimitGainsNothing) {
  EXPECT_FALSE(judged(memory_limit, trained_row({{"peak_memory_bytes", std::int64_t{89}}}), h200_facts()));
  const auto finding = judged(memory_limit, trained_row({{"peak_memory_bytes", std::int64_t{90}}}), h200_facts());
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->headline, "memory (near the limit): 90 % in use");
  EXPECT_EQ(finding->gain.value, 0);
  EXPECT_FALSE(judged(memory_limit, trained_row({{"peak_memory_bytes", std::int64_t{99}}})));  // the memory is unknown
  EXPECT_EQ(diagnose(trained_row({{"peak_memory_bytes", std::int64_t{99}}}), h200_facts()).findings.size(), 2U);
}

TEST(MemoryLimit, SwappingIsCopies) {
  const auto finding =
      judged(memory_limit, trained_row({{"offloaded_bytes", std::int64_t{4096}}, {"copy_share", 0.4}}));
  EXPECT_EQ(finding->headline, "memory (swapping): 40 % of the step");
}

TEST(PrecisionUnused, GainsTheRatioOfTheRates) {
  const auto finding = judged(precision_unused, trained_row(float32), h200_facts());
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.value, 0.7 * (1 - 67.0 / 989.4), 1e-12);
  EXPECT_THAT(finding->remedies, ElementsAre(Remedy::mixed_precision, Remedy::tensor_float32));
  RunFacts tf32 = h200_facts();
  tf32.devices[0].allows_tf32 = true;
  const auto smaller = judged(precision_unused, trained_row(float32), tf32);
  EXPECT_NEAR(smaller->gain.value, 0.7 * (1 - 494.7 / 989.4), 1e-12);
  EXPECT_THAT(smaller->remedies, ElementsAre(Remedy::mixed_precision));
}

TEST(PrecisionUnused, CountsHalfOfTheTraffic) {
  Record row = trained_row(float32);
  row.set("mfu", 0.0);
  row.set("bandwidth_share", 0.199);
  EXPECT_FALSE(judged(precision_unused, row, h200_facts()));
  row.set("bandwidth_share", 0.2);
  EXPECT_NEAR(judged(precision_unused, row, h200_facts())->gain.value, 0.1, 1e-12);
}

TEST(PrecisionUnused, IsSilentIn16BitsAndOnUnknownDevices) {
  EXPECT_FALSE(judged(precision_unused, trained_row(), h200_facts()));
  EXPECT_FALSE(judged(precision_unused, trained_row(float32)));
  RunFacts pascal = h200_facts();
  pascal.devices[0].peaks.half = 30e12;  // slower than float32
  EXPECT_FALSE(judged(precision_unused, trained_row(float32), pascal));
}

TEST(UnalignedSizes, GainWhatTheirProductsLose) {
  const Record more{{"unaligned_share", 0.2}, {"mfu", 0.7}};
  const auto finding = judged(unaligned_sizes, trained_row(more));
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.value, 0.2 * 0.25, 1e-12);
  EXPECT_THAT(finding->remedies, ElementsAre(Remedy::padded_sizes));
  EXPECT_FALSE(judged(unaligned_sizes, trained_row({{"unaligned_share", 0.19}, {"mfu", 0.7}})));
  EXPECT_FALSE(judged(unaligned_sizes, trained_row()));
}

TEST(UnalignedSizes, AreOfNoMatterWithoutTensorCores) {
  Record row = trained_row(float32);
  row.set("unaligned_share", 1.0);
  EXPECT_FALSE(judged(unaligned_sizes, row, h200_facts()));
  RunFacts tf32 = h200_facts();
  tf32.devices[0].allows_tf32 = true;
  EXPECT_TRUE(judged(unaligned_sizes, row, tf32));
}

TEST(OwnAttention, SaysWhyAndWhatToChange) {
  const auto judge = [](const char* why, double share, const Record& more = {}) {
    Record row = trained_row(more);
    row.set("own_attention", std::string(why));
    row.set("own_attention_share", share);
    return judged(own_attention, row);
  };
  const auto finding = judge("dropout", 0.31);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->headline, "attention without cuDNN (dropout): 31 % of the step");
  EXPECT_EQ(finding->evidence,
            "our own kernels compute attention during 31 % of the step, because cuDNN's do not take it: dropout");
  EXPECT_THAT(finding->remedies, ElementsAre(Remedy::fused_attention));
  EXPECT_THAT(judge("float32, mask", 0.05)->remedies, ElementsAre(Remedy::mixed_precision, Remedy::fused_attention));
  EXPECT_THAT(judge("no engine", 0.5)->remedies, ElementsAre(Remedy::padded_sizes));
  EXPECT_THAT(judge("order of sums", 0.5)->remedies, IsEmpty());
  const Record query{{"steps_of", std::string("inference")}, {"queries", std::int64_t{9}}};
  EXPECT_EQ(judge("mask", 0.2, query)->headline, "attention without cuDNN (mask): 20 % of the step");
  EXPECT_FALSE(judge("dropout", 0.049)) << "of no matter";
}

TEST(OwnAttention, IsSilentWhereTheReasonOrTheShareIsUnknown) {
  EXPECT_FALSE(judged(own_attention, trained_row()));
  EXPECT_FALSE(judged(own_attention, trained_row({{"own_attention", std::string("dropout")}}))) << "no trace";
  EXPECT_FALSE(judged(own_attention, trained_row({{"own_attention_share", 0.5}}))) << "a loop that was not planned";
}

TEST(OwnAttention, IsTheVerdictWhereItTakesMost) {
  Record row = trained_row({{"own_attention", std::string("dropout")}, {"own_attention_share", 0.6}, {"mfu", 0.2}});
  EXPECT_EQ(diagnose(row, h200_facts()).cause(), "attention without cuDNN (dropout)");
  row.set("own_attention_share", 0.01);
  EXPECT_THAT(diagnose(row, h200_facts()).cause(), HasSubstr("compute bound"));
}

TEST(BandwidthBound, FiresNearThePeak) {
  Record row = trained_row({{"mfu", 0.1}, {"compute_share", 0.9}});
  row.set("bandwidth_share", 0.6 * 0.9 - 1e-6);
  EXPECT_FALSE(judged(bandwidth_bound, row));
  row.set("bandwidth_share", 0.6 * 0.9);
  const auto finding = judged(bandwidth_bound, row);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.value, 0.54 - 0.1, 1e-12);
  row.set("mfu", 0.5);  // the arithmetic takes nearly as long
  EXPECT_FALSE(judged(bandwidth_bound, row));
  EXPECT_FALSE(judged(bandwidth_bound, trained_row()));
}

TEST(ComputeBound, IsTheGoodEnd) {
  const auto finding = judged(compute_bound, trained_row());
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->headline, "compute bound: 70 % of the best rate");
  EXPECT_EQ(finding->gain.value, 0);
  EXPECT_TRUE(finding->remedies.empty());
  EXPECT_FALSE(judged(compute_bound, trained_row({{"compute_share", 0.699}})));
  const auto slow = judged(compute_bound, trained_row({{"mfu", 0.5}}));
  EXPECT_EQ(slow->kind, "kernels below their peak");
  EXPECT_FALSE(slow->remedies.empty());
}

TEST(ComputeBound, TheArithmeticAloneCanTell) {
  Record row = trained_row({{"mfu", 0.8}});
  row.set("compute_share", Cell{});
  EXPECT_TRUE(judged(compute_bound, row));
  row.set("mfu", Cell{});
  EXPECT_FALSE(judged(compute_bound, row));
}

TEST(CannotTell, NamesWhatIsMissingAndTheFlag) {
  EXPECT_FALSE(judged(cannot_tell, trained_row()));
  Record row = trained_row({{"detail", std::string("no shares but the input's: no tracer")}});
  for (const char* column : {"compute_share", "launch_share"}) row.set(column, Cell{});
  const auto finding = judged(cannot_tell, row);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->evidence, "empty columns: compute_share, launch_share; no shares but the input's: no tracer");
  EXPECT_THAT(finding->flag, HasSubstr("trace = true"));
  EXPECT_NEAR(finding->gain.value, 1 - 0.04 - 0.7, 1e-12);  // kernels run at least as long as their arithmetic takes
}

TEST(CannotTell, DoubtsSharesOfStepsThatTracingSlowed) {
  EXPECT_FALSE(judged(cannot_tell, trained_row({{"observer_share", 0.2}})));
  const auto finding = judged(cannot_tell, trained_row({{"observer_share", 0.21}}));
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->headline, "cannot tell: tracing slowed the traced steps");
  EXPECT_EQ(finding->evidence, "tracing took 21 % of their time");
  EXPECT_EQ(diagnose(trained_row({{"observer_share", 0.5}, {"host_share", 0.9}}), {}).cause(), "cannot tell");
}

TEST(CannotTell, DoubtsSharesOfStepsThatTookLongerThanTheMeasuredOnes) {
  EXPECT_FALSE(judged(cannot_tell, trained_row({{"traced_step_time_s", 0.0124}})));
  EXPECT_FALSE(judged(cannot_tell, trained_row({{"traced_step_time_s", 0.005}})));
  const auto finding = judged(cannot_tell, trained_row({{"traced_step_time_s", 0.016}}));
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->headline, "cannot tell: the traced steps took 1.6 times as long as the measured ones");
  EXPECT_EQ(finding->evidence, "16 ms and 10 ms: the shares are those of other steps");
}

TEST(CannotTell, FiresWhereTooMuchBelongsToNoClass) {
  EXPECT_FALSE(judged(cannot_tell, trained_row({{"other_share", 0.05}})));
  EXPECT_NEAR(judged(cannot_tell, trained_row({{"other_share", 0.06}}))->gain.value, 0.06, 1e-12);
}

TEST(ComputeBound, DevicesThatTakeTurnsAreNoSlowKernels) {
  Record row = trained_row({{"compute_share", 0.99}, {"copy_share", 0.007}, {"mfu", 0.37}});
  auto finding = judged(compute_bound, row);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->headline, "compute bound (kernels below their peak): 37 % of the best rate");
  EXPECT_THAT(finding->remedies, ElementsAre(Remedy::kernel_search, Remedy::larger_batch));
  row.set("device_copies", std::int64_t{4});
  finding = judged(compute_bound, row);
  EXPECT_EQ(finding->headline, "compute bound (devices take turns): 37 % of the best rate of all together");
  EXPECT_THAT(finding->remedies, ElementsAre(Remedy::one_device));
}

}  // namespace
}  // namespace gpubench::device_limits_test
