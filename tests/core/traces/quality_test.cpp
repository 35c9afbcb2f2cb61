#include "core/traces/quality.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/core/traces/kineto_trace.h"

namespace gpubench {
namespace {

TEST(Quality, ATraceWithoutWorkSaysWhatItHas) {
  std::vector<TraceAnalysis> ranks;
  ranks.push_back(KinetoTrace().host("cpu_op", "aten::add", 5, -1).analysis());
  try {
    require_work(ranks);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "explain: t.json: there are no events of operators, calls or kernels; 1 event without a valid time "
                 "were left out");
  }
  ranks.push_back(busy_trace().analysis());
  EXPECT_NO_THROW(require_work(ranks));
}

TEST(Quality, LaunchesWithoutKernelsCannotBeJudged) {
  KinetoTrace trace;
  for (int i = 1; i < 100; ++i) trace.host("cuda_runtime", "cudaLaunchKernel", 100 * i, 10, 1, i);
  const TraceAnalysis analysis = trace.analysis();
  ASSERT_NE(analysis.blocking(), nullptr);
  EXPECT_EQ(analysis.blocking()->check, QualityCheck::no_device_events);
}

TEST(Quality, ReplaysThatWereRecordedInPartCannotBeJudged) {
  KinetoTrace trace;
  for (int i = 1; i <= 20; ++i) {
    trace.host("cuda_runtime", "cudaGraphLaunch", 10'000 * i, 20, 1, i);
    const int kernels = i % 4 == 0 ? 10 : 1;
    for (int k = 0; k < (i > 10 ? 10 : kernels); ++k)
      trace.device("kernel", "gemm", 10'000 * i + 100 + 500 * k, 400, i);
  }
  const TraceAnalysis analysis = trace.analysis();
  ASSERT_NE(analysis.blocking(), nullptr);
  EXPECT_EQ(analysis.blocking()->check, QualityCheck::partial_replays);
}

TEST(Quality, GraphsOfDifferentSizesAreNoPartialReplays) {
  KinetoTrace trace;
  double now = 0;
  for (int step = 0; step < 8; ++step) {
    // A large graph, and twelve small ones of the same kernels that end it.
    for (int graph = 0; graph < 13; ++graph) {
      const int id = 20 * step + graph + 1, kernels = graph == 0 ? 40 : 3;
      trace.host("cuda_runtime", "cudaGraphLaunch", now, 5, 1, id);
      for (int k = 0; k < kernels; ++k)
        trace.device("kernel", graph > 0 && k == 2 ? "norm" : "gemm" + std::to_string(k % 7), now + 10 + 100 * k, 95,
                     id);
      now += 10 + 100 * kernels;
    }
  }
  EXPECT_EQ(trace.analysis().blocking(), nullptr);
}

TEST(Quality, PartsOfOneOfTwoGraphsAreFound) {
  KinetoTrace trace;
  double now = 0;
  for (int step = 0; step < 20; ++step) {
    for (int graph = 0; graph < 3; ++graph) {
      const int id = 20 * step + graph + 1;
      // Of the large graph half of the replays lack most of their kernels, in other places each.
      const bool is_large = graph == 0, is_part = is_large && step % 2 == 1;
      trace.host("cuda_runtime", "cudaGraphLaunch", now, 5, 1, id);
      for (int k = 0; k < (is_large ? 40 : 3); ++k)
        if (!is_part || (k * 7 + step) % 5 == 0)
          trace.device("kernel", (is_large ? "gemm" : "norm") + std::to_string(k), now + 10 + 100 * k, 95, id);
      now += 10 + 100 * (is_large ? 40 : 3);
    }
  }
  const TraceAnalysis analysis = trace.analysis();
  ASSERT_NE(analysis.blocking(), nullptr);
  EXPECT_EQ(analysis.blocking()->check, QualityCheck::partial_replays);
}

TEST(Quality, ACompilationWithoutStepsBehindItIsStartUp) {
  KinetoTrace trace;
  trace.host("python_function", "torch/_inductor/compile_fx.py(1): compile_fx", 0, 90'000);
  for (int i = 0; i < 30; ++i) trace.host("cpu_op", "aten::mm", 90'000 + 300 * i, 290);
  const TraceAnalysis analysis = trace.analysis();
  ASSERT_NE(analysis.blocking(), nullptr);
  EXPECT_EQ(analysis.blocking()->check, QualityCheck::start_up);
}

TEST(Quality, OneCollectiveThatWaitsForAnotherProfilerIsLeftOut) {
  KinetoTrace trace = busy_trace();
  for (int i = 0; i < 6; ++i)
    trace.host("cuda_runtime", "cudaLaunchKernel", 30'000 + 1000 * i, 2, 1, 500 + i)
        .device("kernel", "ncclDevKernel_AllReduce", 30'010 + 1000 * i, i == 0 ? 100'000 : 500, 500 + i);
  const TraceAnalysis analysis = trace.analysis();
  ASSERT_FALSE(analysis.issues.empty());
  EXPECT_EQ(analysis.issues.front().check, QualityCheck::one_event);
  EXPECT_LT(analysis.window_s(), 0.04);
}

TEST(Quality, ASecondMarkOfStepsThatDisagreesIsNamed) {
  KinetoTrace accumulating;
  for (int step = 0; step < 8; ++step) {
    const double begin = 12'000 * step;
    for (int batch = 0; batch < 4; ++batch) {
      accumulating.host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                        begin + 2'500 * batch, 200);
      accumulating.host("cpu_op", "aten::mm", begin + 2'500 * batch + 200, 2'200);
    }
    accumulating.host("user_annotation", "Optimizer.step#SGD.step", begin + 10'500, 1'400);
  }
  const TraceAnalysis analysis = accumulating.analysis();
  EXPECT_EQ(analysis.steps.rule, "Optimizer.step#");
  EXPECT_EQ(analysis.steps.other_rule, "enumerate(DataLoader)#");
  EXPECT_NEAR(analysis.steps.other_step_s, 0.003, 0.0003);
  const bool is_said = std::ranges::any_of(analysis.issues, [](const QualityIssue& issue) {
    return issue.check == QualityCheck::ambiguous_steps && !issue.blocks;
  });
  EXPECT_TRUE(is_said);
  EXPECT_TRUE(training_trace(1000).analysis().steps.other_rule.empty());
}

}  // namespace
}  // namespace gpubench
