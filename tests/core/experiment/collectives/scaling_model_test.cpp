#include "core/experiment/collectives/scaling_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::HasSubstr;

/// 1 ms + bytes at 1 GB/s on two replicas; a ring on four.
ScalingInputs inputs() {
  ScalingInputs inputs{.step_seconds = 0.1, .gradient_bytes = 20e6, .replicas = {2, 4, 1}};
  for (const double bytes : {1e6, 1e7, 1e8}) {
    inputs.all_reduces.push_back({2, {bytes, 1e-3 + bytes * 1e-9}});
    inputs.all_reduces.push_back({4, {bytes, 3e-3 + 1.5 * bytes * 1e-9}});
  }
  inputs.fit_up_to = 2;
  return inputs;
}

TEST(ScalingModel, predicts_weak_and_strong_scaling) {
  const auto steps = ScalingModel(inputs()).steps();
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].replicas, 1);
  EXPECT_EQ(steps[0].weak_step, 0.1);
  EXPECT_EQ(steps[0].strong_efficiency, 1);
  EXPECT_NEAR(steps[1].all_reduce, 0.021, 1e-9);
  EXPECT_NEAR(steps[1].weak_step, 0.121, 1e-9);
  EXPECT_NEAR(steps[1].weak_efficiency, 0.1 / 0.121, 1e-9);
  EXPECT_NEAR(steps[2].all_reduce, 0.003 + 0.03, 1e-9);
  EXPECT_NEAR(steps[2].strong_step, 0.025 + 0.033, 1e-9);
  EXPECT_NEAR(steps[2].strong_efficiency, 0.1 / (4 * 0.058), 1e-9);
}

TEST(ScalingModel, overlap_hides_no_more_than_the_backward_pass) {
  ScalingInputs some = inputs();
  some.overlap = 0.5;
  EXPECT_NEAR(ScalingModel(some).steps()[1].weak_step, 0.1 + 0.0105, 1e-9);
  some.overlap = 1;
  some.backward_share = 0.1;
  EXPECT_NEAR(ScalingModel(some).steps()[1].hidden, 0.01, 1e-9);
  EXPECT_NEAR(ScalingModel(some).steps()[1].weak_step, 0.1 + 0.011, 1e-9);
}

TEST(ScalingModel, every_bucket_pays_the_latency) {
  ScalingInputs buckets = inputs();
  buckets.bucket_bytes = 6e6;
  EXPECT_NEAR(ScalingModel(buckets).steps()[1].all_reduce, 4e-3 + 0.02, 1e-9);
}

TEST(ScalingModel, holds_measurements_against_predictions) {
  ScalingInputs measured = inputs();
  measured.steps = {{8, 0.25}, {2, 0.11}};
  const auto steps = ScalingModel(measured).steps();
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[1].measured_step, 0.11);
  EXPECT_NEAR(prediction_error(steps[1].weak_step, *steps[1].measured_step), 0.1, 1e-9);
  EXPECT_EQ(steps[3].replicas, 8);
  EXPECT_FALSE(steps[2].measured_step);

  const auto all_reduces = ScalingModel(measured).all_reduces();
  ASSERT_EQ(all_reduces.size(), 6U);
  for (const PredictedAllReduce& one : all_reduces) {
    EXPECT_NEAR(prediction_error(one.seconds, one.measured.time.seconds), 0, 1e-6) << one.measured.replicas;
  }
}

TEST(ScalingModel, says_what_it_assumes) {
  ScalingInputs all = inputs();
  all.bucket_bytes = 1 << 20;
  all.overlap = 0.6;
  const auto lines = ScalingModel(all).assumptions();
  EXPECT_THAT(lines, testing::ElementsAre(
                         testing::MatchesRegex("all-reduce of 2 replicas, as measured: .* and 1 GB/s of the message"),
                         HasSubstr("latency grows as the hops of a ring, 2 (n - 1)"),
                         "19.1 MiB of gradients in a step, exchanged in buckets of 1 MiB",
                         "60 % of the exchange runs beside the backward pass, which is 67 % of a step",
                         HasSubstr("weak scaling"), HasSubstr("strong scaling")));
}

TEST(ScalingModel, names_what_is_missing_or_impossible) {
  const auto refuses = [](const auto& change, const std::string& text) {
    ScalingInputs changed = inputs();
    change(changed);
    EXPECT_ERROR(text, ScalingModel{changed});
  };
  refuses([](ScalingInputs& i) { i.step_seconds = 0; }, "scaling_model: step_time_s must be above 0, got 0");
  refuses([](ScalingInputs& i) { i.gradient_bytes = -1; }, "scaling_model: gradient_bytes must be above 0, got -1");
  refuses([](ScalingInputs& i) { i.bucket_bytes = 0; }, "scaling_model: bucket_bytes must be above 0, got 0");
  refuses([](ScalingInputs& i) { i.overlap = 1.5; }, "scaling_model: overlap is a share from 0 to 1, got 1.5");
  refuses([](ScalingInputs& i) { i.backward_share = -1; },
          "scaling_model: backward_share is a share from 0 to 1, got -1");
  refuses([](ScalingInputs& i) { i.replicas = {0}; }, "scaling_model: replicas must be at least 1, got 0");
  refuses([](ScalingInputs& i) { i.steps = {{2, 0}}; }, "scaling_model: a measured step_time_s must be above 0, got 0");
  refuses([](ScalingInputs& i) { i.fit_up_to = 1; },
          "scaling_model: there is no all-reduce of 2 to 1 replicas to learn from");
  refuses([](ScalingInputs& i) { i.all_reduces.clear(), i.fit_up_to.reset(); },
          "scaling_model: there is no all-reduce of 2 or more replicas to learn from");
}

}  // namespace
}  // namespace gpubench
