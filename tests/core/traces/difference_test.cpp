#include "core/traces/difference.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/traces/replay.h"
#include "tests/core/traces/kineto_trace.h"

namespace gpubench {
namespace {

TEST(Difference, OfClassesSumsToThatOfTheSteps) {
  const TraceDifference difference = difference_of(training_trace(5000).analysis(), training_trace(1000).analysis());
  EXPECT_NEAR(difference.step.added_s(), -0.004, 1e-9);
  double sum = 0;
  for (const TimeChange& one : difference.classes) sum += one.added_s();
  EXPECT_NEAR(sum, difference.step.added_s(), 1e-12);
  EXPECT_FALSE(difference.is_slower);
  EXPECT_TRUE(difference_of(training_trace(1000).analysis(), training_trace(5000).analysis()).is_slower);
}

TEST(Replay, WithoutTheLoaderStepsTakeWhatTheDeviceNeeds) {
  const Replay replay = replay_without(training_trace(5000).analysis(), HostWork::input);
  // 10 ms of launches and kernels are left of 15.
  EXPECT_NEAR(replay.step_s, 0.010, 1e-4);
  EXPECT_NEAR(share_of(replay.row, "input_wait_share"), 0, 1e-9);
}

TEST(Replay, AWaitLastsAsLongAsTheDeviceWorks) {
  KinetoTrace trace;
  for (int i = 0; i < 8; ++i) {
    const double step = 10'000 * i;
    // The host launches 4 ms of work, waits for it, and thinks for 5 ms.
    for (int k = 0; k < 4; ++k) trace.kernel(step + 10 * k, step + 20 + 1000 * k, 990);
    trace.host("cuda_runtime", "cudaStreamSynchronize", step + 100, 3920)
        .host("user_annotation", "Optimizer.step#SGD.step", step + 4100, 400);
  }
  EXPECT_NEAR(replay_without(trace.analysis(), HostWork::input).step_s, 0.010, 1e-4) << "nothing is removed";
  EXPECT_NEAR(replay_without(trace.analysis(), HostWork::sync).step_s, 0.0061, 2e-4) << "the host's own time is left";
}

TEST(Difference, OfOtherStepsIsRefused) {
  KinetoTrace other;
  for (int i = 0; i < 40; ++i) other.kernel(1000 * i * (i % 7 + 1), 1000 * i * (i % 7 + 1) + 10, 990);
  EXPECT_THROW(difference_of(training_trace(1000).analysis(), other.analysis()), Error);
}

}  // namespace
}  // namespace gpubench
