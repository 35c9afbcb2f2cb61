#include "core/backend/emulated/kernel_time.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "core/ops/attention.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/recurrent.h"
#include "core/ops/softmax.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

KernelWork work_of(const Op& op, const std::vector<TensorType>& inputs) {
  const std::vector<TensorType> outputs = op.infer(inputs);
  return work_of(op, Signature{inputs, outputs});
}

TEST(KernelTime, follows_from_the_operations_bytes_and_types_of_an_op) {
  const KernelWork product = work_of(Matmul(), {{{4, 8}, Dtype::f32}, {{8, 16}, Dtype::f32}});
  EXPECT_EQ(product.flops, 2 * 4 * 8 * 16);
  EXPECT_EQ(product.bytes, 4 * (4 * 8 + 8 * 16 + 4 * 16));
  EXPECT_EQ(product.kind, KernelKind::product);
  EXPECT_FALSE(product.half);
  EXPECT_TRUE(work_of(Matmul(), {{{4, 8}, Dtype::bf16}, {{8, 16}, Dtype::bf16}}).half);
  const KernelWork softmax = work_of(Softmax(), {{{4, 8}, Dtype::f32}});
  EXPECT_EQ(softmax.kind, KernelKind::softmax);
  EXPECT_EQ(softmax.row_bytes, 4 * 8);
  EXPECT_EQ(work_of(Relu(), {{{4, 8}, Dtype::f32}}).kind, KernelKind::elements);
}

TEST(KernelTime, the_slower_of_arithmetic_and_memory_counts_behind_a_fixed_time) {
  Profile profile;
  profile.kernel_s = 1;
  profile.memory_bytes_per_s = 10;
  profile.float32_flops_per_s = 100;
  profile.float16_flops_per_s = 1000;
  profile.ramp_s = 0.9;
  profile.row_bytes = 1000;
  using enum KernelKind;
  EXPECT_DOUBLE_EQ(kernel_seconds(profile, {elements, 1000, 10}), 11);
  EXPECT_DOUBLE_EQ(kernel_seconds(profile, {elements, 0, 10}), 2);
  EXPECT_DOUBLE_EQ(kernel_seconds(profile, {product, 1000, 10}), 11 + 3) << "3 s: sqrt(10 s * 0.9 s)";
  EXPECT_DOUBLE_EQ(kernel_seconds(profile, {product, 1e6, 10, 0, true}), 1001 + 30);
}

TEST(KernelTime, rows_of_16_bit_products_should_be_multiples_of_16_bytes) {
  const auto alignment = [](std::int64_t k, std::int64_t n, Dtype dtype) {
    return work_of(Matmul(), {{{64, k}, dtype}, {{k, n}, dtype}}).alignment;
  };
  EXPECT_EQ(alignment(64, 64, Dtype::bf16), 16);
  EXPECT_EQ(alignment(64, 68, Dtype::bf16), 8);
  EXPECT_EQ(alignment(66, 64, Dtype::bf16), 4);
  EXPECT_EQ(alignment(64, 63, Dtype::f16), 2);
  EXPECT_EQ(alignment(63, 63, Dtype::f32), 16) << "no tensor core takes it";
  Profile profile = known_profile("a100").profile;
  profile.kernel_s = profile.ramp_s = 0;
  const auto seconds = [&](int aligned) {
    return kernel_seconds(profile, {KernelKind::product, 1e12, 1, 0, true, aligned});
  };
  EXPECT_DOUBLE_EQ(seconds(2) / seconds(16), 4);
  EXPECT_DOUBLE_EQ(seconds(8) / seconds(16), 1.25);
}

TEST(KernelTime, attention_is_a_product_whose_mask_and_sums_need_no_alignment) {
  const TensorType heads{{2, 63, 4, 64}, Dtype::bf16};
  const TensorType mask{{63, 63}, Dtype::boolean};
  const KernelWork work = work_of(Attention({.mask = true}), {heads, heads, heads, mask});
  EXPECT_EQ(work.kind, KernelKind::product);
  EXPECT_EQ(work.alignment, 16);
  EXPECT_EQ(work.flops, 2.0 * 2 * 4 * 63 * 63 * (64 + 64));
}

TEST(KernelTime, each_step_of_a_recurrence_takes_its_kernels) {
  constexpr std::int64_t steps = 10, batch = 4, units = 8;
  const auto work = [&](RecurrentCell cell) {
    const std::int64_t gates = gates_of(cell);
    std::vector<TensorType> inputs{{{steps, batch, gates * units}, Dtype::f32}, {{units, gates * units}, Dtype::f32}};
    if (cell == RecurrentCell::gru) inputs.push_back({{units}, Dtype::f32});
    return work_of(Recurrence({.cell = cell}), inputs);
  };
  const KernelWork lstm = work(RecurrentCell::lstm);
  EXPECT_EQ(lstm.products, 9) << "there is no state before the first step";
  EXPECT_EQ(lstm.kernels, 19);
  EXPECT_EQ(work(RecurrentCell::gru).kernels, 19);
  const TensorType states{{steps, batch, units}, Dtype::f32}, kernel{{units, 4 * units}, Dtype::f32};
  const KernelWork gradient =
      work_of(RecurrenceGradient({}), {kernel, states, states, {{steps, batch, 4 * units}, Dtype::f32}, states});
  EXPECT_EQ(gradient.products, 10) << "and one over all steps";
  EXPECT_EQ(gradient.kernels, 20);

  Profile profile;
  profile.kernel_s = 1;
  profile.memory_bytes_per_s = 1e30;
  profile.float32_flops_per_s = lstm.flops;
  profile.ramp_s = 4;
  EXPECT_DOUBLE_EQ(kernel_seconds(profile, lstm), 19 + 1 + 9 * std::sqrt(1.0 / 9 * 4));
}

TEST(KernelTime, long_rows_are_read_again) {
  Profile profile = known_profile("a100").profile;
  profile.kernel_s = profile.ramp_s = 0;
  const auto passes = [&](KernelKind kind, double row_bytes) {
    return kernel_seconds(profile, {kind, 0, 1e9, row_bytes}) * profile.memory_bytes_per_s / 1e9;
  };
  EXPECT_NEAR(passes(KernelKind::softmax, 1e3), 1, 1e-3);
  EXPECT_DOUBLE_EQ(passes(KernelKind::softmax, profile.row_bytes), 1.5);
  EXPECT_NEAR(passes(KernelKind::softmax, 1e7), 2, 1e-3);
  EXPECT_NEAR(passes(KernelKind::normalization, 1e7), 1.5, 1e-3);
}

/// Kernels as the profile has them, each off by up to a tenth.
std::vector<KernelSample> scattered(const Profile& profile) {
  using enum KernelKind;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> size(0, 12), scatter(0.9, 1.1);
  std::vector<KernelSample> samples;
  for (int i = 0; i < 200; ++i) {
    const double bytes = 1e6 * std::exp2(size(random)), row = 256 * std::exp2(size(random));
    for (const KernelWork& work :
         {KernelWork{product, 500 * bytes, bytes}, KernelWork{product, 500 * bytes, bytes, 0, true},
          KernelWork{elements, bytes, bytes}, KernelWork{softmax, bytes, bytes, row}}) {
      samples.push_back({work, kernel_seconds(profile, work) * scatter(random)});
    }
  }
  return samples;
}

TEST(ProfileFit, finds_the_profile_behind_measured_times) {
  const Profile& truth = known_profile("v100").profile;
  const std::vector<KernelSample> samples = scattered(truth);
  const Profile fitted = fit_profile(known_profile("h200").profile, samples);
  EXPECT_NEAR(fitted.float32_flops_per_s / truth.float32_flops_per_s, 1, 0.05);
  EXPECT_NEAR(fitted.float16_flops_per_s / truth.float16_flops_per_s, 1, 0.05);
  EXPECT_NEAR(fitted.memory_bytes_per_s / truth.memory_bytes_per_s, 1, 0.05);
  EXPECT_NEAR(fitted.row_bytes / truth.row_bytes, 1, 0.15);
  EXPECT_LT(median_error(fitted, samples), 0.06);
  EXPECT_EQ(fitted.launch_s, known_profile("h200").profile.launch_s) << "nothing tells about it";
}

TEST(KernelKind, an_unknown_one_is_refused_with_those_that_there_are) {
  EXPECT_EQ(parse_kernel_kind("softmax"), KernelKind::softmax);
  EXPECT_ERROR("unknown kind of kernel 'conv' (known: elements, product, softmax, normalization)",
               parse_kernel_kind("conv"));
}

TEST(ProfileFit, numbers_without_samples_stay) {
  const Profile& start = known_profile("a100").profile;
  const Profile fitted = fit_profile(start, {});
  for (const ProfileNumber& one : profile_numbers) EXPECT_EQ(fitted.*one.member, start.*one.member) << one.name;
}

TEST(ProfileFit, a_sample_without_time_is_refused) {
  const std::vector<KernelSample> samples = {{{KernelKind::elements, 1, 1}, 0}};
  EXPECT_ERROR(HasSubstr("needs bytes and a time above 0, got 1 FLOP, 1 bytes, 0 s"),
               fit_profile(known_profile("t4").profile, samples));
}

}  // namespace
}  // namespace gpubench
