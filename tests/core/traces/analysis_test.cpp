#include "core/traces/analysis.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/results/step_classes.h"
#include "core/traces/event_kinds.h"
#include "tests/core/traces/kineto_trace.h"

namespace gpubench {
namespace {

double idle_us(const TraceAnalysis& analysis, IdleKind kind) {
  double sum = 0;
  for (const IdlePart& part : analysis.idle.front())
    if (part.kind == kind) sum += static_cast<double>(part.time.length()) / 1000;
  return sum;
}

TEST(Idle, IsChargedToTheThreadThatLaunchedWhatEndedTheGap) {
  KinetoTrace trace = busy_trace();
  // 30 000 to 40 000: thread 1 takes a batch, thread 2 runs an operator and launches nothing.
  trace.host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 30'100, 9000)
      .host("cpu_op", "aten::add", 30'000, 5000, 2)
      .kernel(39'990, 40'000, 1000);
  const TraceAnalysis analysis = trace.analysis();
  EXPECT_DOUBLE_EQ(idle_us(analysis, IdleKind::input), 9000);
  EXPECT_DOUBLE_EQ(idle_us(analysis, IdleKind::operators), 0);
  EXPECT_DOUBLE_EQ(idle_us(analysis, IdleKind::nothing), 990);
  EXPECT_DOUBLE_EQ(idle_us(analysis, IdleKind::launch), 2 * 30);
  const Record row = row_of(analysis);
  EXPECT_NEAR(share_of(row, "input_wait_share"), 9000 / 40'990.0, 1e-9);
  EXPECT_EQ(to_text(row.get("input_cause_kind")), "main process");
}

TEST(Idle, AWaitBeforeTheGapIsTheCauseOfWhatFollowsIt) {
  KinetoTrace trace = busy_trace();
  trace.host("cpu_op", "aten::item", 29'000, 1010)
      .host("cuda_runtime", "cudaStreamSynchronize", 29'010, 1000)
      .host("cpu_op", "aten::mul", 30'010, 4980)
      .kernel(34'990, 35'000, 1000);
  const TraceAnalysis analysis = trace.analysis();
  EXPECT_NEAR(idle_us(analysis, IdleKind::drained), 4980, 1);
  EXPECT_EQ(idle_us(analysis, IdleKind::operators), 0);
  EXPECT_EQ(to_text(row_of(analysis).get("host_cause_kind")), "synchronization");
}

TEST(Idle, ALoaderBehindAWaitStaysALoader) {
  KinetoTrace trace = busy_trace();
  trace.host("cuda_runtime", "cudaStreamSynchronize", 29'010, 1000)
      .host("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 30'010, 4980)
      .kernel(34'990, 35'000, 1000);
  const TraceAnalysis analysis = trace.analysis();
  EXPECT_NEAR(idle_us(analysis, IdleKind::input), 4980, 1);
  EXPECT_EQ(to_text(row_of(analysis).get("input_cause_kind")), "workers");
}

TEST(Idle, RunningCompiledCodeIsNoCompilation) {
  KinetoTrace trace = busy_trace();
  trace.host("user_annotation", "## Call CompiledFxGraph abc ##", 30'000, 3000)
      .host("user_annotation", "compile_fx.compile_fx_inner (dynamo_timed)", 33'000, 1000)
      .kernel(34'990, 35'000, 1000);
  const TraceAnalysis analysis = trace.analysis();
  EXPECT_NEAR(idle_us(analysis, IdleKind::compile), 1000, 1);
  EXPECT_NEAR(idle_us(analysis, IdleKind::python), 3000, 1);
}

TEST(Idle, TracingAFunctionOfTensorFlowIsCompilation) {
  EXPECT_EQ(work_of_range("tf.function-graph_building", HostWork::op), HostWork::compile);
}

/// A processor's thread: 400 operators of 10 us, which follow each other after 20 us.
KinetoTrace many_operators() {
  KinetoTrace trace;
  for (int i = 0; i < 400; ++i) trace.host("cpu_op", "aten::add", 30 * i, 10);
  return trace;
}

TEST(SmallOperators, AreTheCauseOfShortGapsBetweenThem) {
  EXPECT_EQ(to_text(row_of(many_operators().analysis()).get("host_cause_kind")), "operators");
}

TEST(SmallOperators, AreCountedInTheWindowWhereNobodyCountsSteps) {
  EXPECT_EQ(to_text(row_of(many_operators().analysis()).get("host_cause")),
            "400 operators in the window; of the 7.98 ms between them 7.98 ms are in parts below 100 us");
}

TEST(SmallOperators, AreCountedByTheStepsOfWhoeverCountsThem) {
  const TraceAnalysis analysis = many_operators().analysis({}, 20);
  EXPECT_EQ(to_text(row_of(analysis).get("host_cause")),
            "20 operators a step; of the 399 µs between them 399 µs are in parts below 100 us");
  EXPECT_NEAR(analysis.step_s(), analysis.window_s() / 20, 1e-12);
}

TEST(SmallOperators, AreNotTheCauseWhereMostOfTheTimeIsCompilation) {
  KinetoTrace trace = many_operators();
  trace.host("user_annotation", "compile_fx.compile_fx_inner (dynamo_timed)", 12'000, 50'000);
  EXPECT_EQ(to_text(row_of(trace.analysis()).get("host_cause_kind")), "compilation");
}

TEST(SmallOperators, AreNotTheCauseOfAFunctionThatCallsManyShortOnes) {
  KinetoTrace trace = many_operators();
  for (int i = 0; i < 1000; ++i)
    trace.host("python_function", fmt::format("train.py({}): f", i % 2), 12'000 + 50 * i, 50);
  EXPECT_EQ(to_text(row_of(trace.analysis()).get("host_cause_kind")), "Python");
}

TEST(Analysis, ClassesSumToTheWindow) {
  KinetoTrace trace = busy_trace();
  trace.host("cpu_op", "aten::mul", 30'010, 4000).kernel(34'990, 35'000, 1000);
  const Record row = row_of(trace.analysis());
  double sum = 0;
  for (const StepClass& one : step_classes) sum += number_in(row.get(one.column)).value_or(0);
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Steps, AreThoseThatAnOptimizerEnds) {
  KinetoTrace trace;
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 5; ++k) trace.kernel(10'000 * i + 1000 * k, 10'000 * i + 1000 * k + 10, 900);
    trace.host("user_annotation", "Optimizer.step#SGD.step", 10'000 * i + 8000, 1000);
  }
  const TraceAnalysis analysis = trace.analysis();
  EXPECT_EQ(analysis.steps.rule, "Optimizer.step#");
  EXPECT_EQ(analysis.steps.steps.size(), 5U);
  EXPECT_EQ(analysis.step_count(), 3);
  EXPECT_DOUBLE_EQ(analysis.window_s(), 0.030);
}

TEST(Idle, AGapThatRunsOnBehindTheStepsIsOfTheThreadThatEndsIt) {
  KinetoTrace trace;
  // Thread 2 launches; thread 1 has most recorded time.
  trace.host("cpu_op", "main", 0, 60'000);
  for (int i = 0; i < 6; ++i) {
    trace.host("user_annotation", "Optimizer.step#SGD.step", 10'000 * i + 9000, 500, 2);
    for (int k = 0; k < 5; ++k) trace.kernel(10'000 * i + 1000 * k, 10'000 * i + 1000 * k + 10, 990, "gemm", 2);
  }
  const TraceAnalysis analysis = trace.analysis();
  const IdlePart& last = analysis.idle.front().back();
  EXPECT_EQ(analysis.trace.names.text(last.name), "Optimizer.step#SGD.step");
  EXPECT_EQ(last.thread, analysis.trace.host.back().thread);
}

TEST(Steps, AreNotWhatRepeatsTooOften) {
  ForeignTrace trace;
  trace.threads.resize(1);
  const NameId name = trace.names.id("ProfilerStep#1");
  for (int i = 0; i < 200'001; ++i)
    trace.host.push_back({.time = {10 * i, 10 * i + 9}, .name = name, .work = HostWork::step});
  EXPECT_EQ(find_steps(trace).count(), 0U);
  EXPECT_THROW(find_steps(trace, "ProfilerStep"), Error);
  trace.host.pop_back();
  EXPECT_GT(find_steps(trace).count(), 0U);
}

}  // namespace
}  // namespace gpubench
