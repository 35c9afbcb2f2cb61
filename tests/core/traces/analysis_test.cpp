#include "core/traces/analysis.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/results/step_classes.h"
#include "core/traces/chrome_trace.h"
#include "core/traces/difference.h"
#include "core/traces/event_kinds.h"
#include "core/traces/ranks.h"
#include "core/traces/replay.h"

namespace gpubench {
namespace {

/// Writes Kineto's JSON; times are in microseconds.
class Trace {
 public:
  Trace& host(const std::string& category, const std::string& name, double begin, double length, int thread = 1,
              int correlation = 0) {
    return add(category, name, begin, length, 10, thread,
               correlation == 0 ? "" : fmt::format(R"("correlation": {})", correlation));
  }
  Trace& device(const std::string& category, const std::string& name, double begin, double length, int correlation) {
    return add(category, name, begin, length, 0, 7,
               fmt::format(R"("device": 0, "stream": 7, "correlation": {})", correlation));
  }
  /// A collective of a group of ranks.
  Trace& exchange(double begin, double length, int correlation, const std::string& group, int sequence) {
    host("cuda_runtime", "cudaLaunchKernel", begin - 10, 2, 1, correlation);
    return add("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", begin, length, 0, 9,
               fmt::format(R"("device": 0, "stream": 9, "correlation": {}, "Collective name": "allreduce", )"
                           R"("Process Group Name": "{}", "Process Group Ranks": "[{}]", "Seq": {})",
                           correlation, group, group, sequence));
  }
  /// A launch that takes 2 us and its kernel.
  Trace& kernel(double launch, double begin, double length, const std::string& name = "gemm", int thread = 1) {
    ++correlation_;
    host("cuda_runtime", "cudaLaunchKernel", launch, 2, thread, correlation_);
    return device("kernel", name, begin, length, correlation_);
  }
  TraceAnalysis analysis(const std::string& mark = {}, int known_steps = 0) const {
    const std::string text = fmt::format(R"({{"schemaVersion": 1, "traceEvents": [{}]}})", events_);
    return analyse(
        std::move(
            read_chrome_trace(std::make_unique<ByteSpanSource>("t.json", std::as_bytes(std::span(text)))).front()),
        {.mark = mark, .known_steps = known_steps});
  }

 private:
  Trace& add(const std::string& category, const std::string& name, double begin, double length, int process, int thread,
             const std::string& args) {
    events_ += fmt::format(R"({}{{"ph": "X", "cat": "{}", "name": "{}", "ts": {}, "dur": {}, "pid": {}, "tid": {}, )"
                           R"("args": {{{}}}}})",
                           events_.empty() ? "" : ",", category, name, begin, length, process, thread, args);
    return *this;
  }
  std::string events_;
  int correlation_ = 0;
};

double idle_us(const TraceAnalysis& analysis, IdleKind kind) {
  double sum = 0;
  for (const IdlePart& part : analysis.idle.front())
    if (part.kind == kind) sum += static_cast<double>(part.time.length()) / 1000;
  return sum;
}

double share(const Record& row, std::string_view column) {
  return number_in(row.get(column)).value_or(NAN);
}

/// Thirty kernels of 1 ms, each launched 10 us before it begins: enough to be judged.
Trace busy() {
  Trace trace;
  for (int i = 0; i < 30; ++i) trace.kernel(1000 * i, 1000 * i + 10, 990);
  return trace;
}

TEST(Idle, IsChargedToTheThreadThatLaunchedWhatEndedTheGap) {
  Trace trace = busy();
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
  EXPECT_NEAR(share(row, "input_wait_share"), 9000 / 40'990.0, 1e-9);
  EXPECT_EQ(to_text(row.get("input_cause_kind")), "main process");
}

TEST(Idle, AWaitBeforeTheGapIsTheCauseOfWhatFollowsIt) {
  Trace trace = busy();
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
  Trace trace = busy();
  trace.host("cuda_runtime", "cudaStreamSynchronize", 29'010, 1000)
      .host("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 30'010, 4980)
      .kernel(34'990, 35'000, 1000);
  const TraceAnalysis analysis = trace.analysis();
  EXPECT_NEAR(idle_us(analysis, IdleKind::input), 4980, 1);
  EXPECT_EQ(to_text(row_of(analysis).get("input_cause_kind")), "workers");
}

TEST(Idle, RunningCompiledCodeIsNoCompilation) {
  Trace trace = busy();
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
Trace many_operators() {
  Trace trace;
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
  Trace trace = many_operators();
  trace.host("user_annotation", "compile_fx.compile_fx_inner (dynamo_timed)", 12'000, 50'000);
  EXPECT_EQ(to_text(row_of(trace.analysis()).get("host_cause_kind")), "compilation");
}

TEST(SmallOperators, AreNotTheCauseOfAFunctionThatCallsManyShortOnes) {
  Trace trace = many_operators();
  for (int i = 0; i < 1000; ++i)
    trace.host("python_function", fmt::format("train.py({}): f", i % 2), 12'000 + 50 * i, 50);
  EXPECT_EQ(to_text(row_of(trace.analysis()).get("host_cause_kind")), "Python");
}

TEST(Analysis, ClassesSumToTheWindow) {
  Trace trace = busy();
  trace.host("cpu_op", "aten::mul", 30'010, 4000).kernel(34'990, 35'000, 1000);
  const Record row = row_of(trace.analysis());
  double sum = 0;
  for (const StepClass& one : step_classes) sum += number_in(row.get(one.column)).value_or(0);
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Steps, AreThoseThatAnOptimizerEnds) {
  Trace trace;
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

TEST(Quality, ATraceWithoutWorkSaysWhatItHas) {
  std::vector<TraceAnalysis> ranks;
  ranks.push_back(Trace().host("cpu_op", "aten::add", 5, -1).analysis());
  try {
    require_work(ranks);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "explain: t.json: there are no events of operators, calls or kernels; 1 event without a valid time "
                 "were left out");
  }
  ranks.push_back(busy().analysis());
  EXPECT_NO_THROW(require_work(ranks));
}

TEST(Idle, AGapThatRunsOnBehindTheStepsIsOfTheThreadThatEndsIt) {
  Trace trace;
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

TEST(Quality, LaunchesWithoutKernelsCannotBeJudged) {
  Trace trace;
  for (int i = 1; i < 100; ++i) trace.host("cuda_runtime", "cudaLaunchKernel", 100 * i, 10, 1, i);
  const TraceAnalysis analysis = trace.analysis();
  ASSERT_NE(analysis.blocking(), nullptr);
  EXPECT_EQ(analysis.blocking()->check, QualityCheck::no_device_events);
}

TEST(Quality, ReplaysThatWereRecordedInPartCannotBeJudged) {
  Trace trace;
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
  Trace trace;
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
  Trace trace;
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
  Trace trace;
  trace.host("python_function", "torch/_inductor/compile_fx.py(1): compile_fx", 0, 90'000);
  for (int i = 0; i < 30; ++i) trace.host("cpu_op", "aten::mm", 90'000 + 300 * i, 290);
  const TraceAnalysis analysis = trace.analysis();
  ASSERT_NE(analysis.blocking(), nullptr);
  EXPECT_EQ(analysis.blocking()->check, QualityCheck::start_up);
}

TEST(Quality, OneCollectiveThatWaitsForAnotherProfilerIsLeftOut) {
  Trace trace = busy();
  for (int i = 0; i < 6; ++i)
    trace.host("cuda_runtime", "cudaLaunchKernel", 30'000 + 1000 * i, 2, 1, 500 + i)
        .device("kernel", "ncclDevKernel_AllReduce", 30'010 + 1000 * i, i == 0 ? 100'000 : 500, 500 + i);
  const TraceAnalysis analysis = trace.analysis();
  ASSERT_FALSE(analysis.issues.empty());
  EXPECT_EQ(analysis.issues.front().check, QualityCheck::one_event);
  EXPECT_LT(analysis.window_s(), 0.04);
}

/// Six steps of ten kernels; a loader takes `loading` us of each.
Trace training(double loading, const char* optimizer = "SGD") {
  Trace trace;
  for (int i = 0; i < 8; ++i) {
    const double step = (10'000 + loading) * i;
    trace.host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", step, loading);
    for (int k = 0; k < 9; ++k) trace.kernel(step + loading + 1000 * k, step + loading + 1000 * k + 10, 990);
    trace.host("user_annotation", fmt::format("Optimizer.step#{}.step", optimizer), step + loading + 9500, 400);
  }
  return trace;
}

TEST(Quality, ASecondMarkOfStepsThatDisagreesIsNamed) {
  Trace accumulating;
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
  EXPECT_TRUE(training(1000).analysis().steps.other_rule.empty());
}

TEST(Difference, OfClassesSumsToThatOfTheSteps) {
  const TraceDifference difference = difference_of(training(5000).analysis(), training(1000).analysis());
  EXPECT_NEAR(difference.step.added_s(), -0.004, 1e-9);
  double sum = 0;
  for (const TimeChange& one : difference.classes) sum += one.added_s();
  EXPECT_NEAR(sum, difference.step.added_s(), 1e-12);
  EXPECT_FALSE(difference.is_slower);
  EXPECT_TRUE(difference_of(training(1000).analysis(), training(5000).analysis()).is_slower);
}

TEST(Replay, WithoutTheLoaderStepsTakeWhatTheDeviceNeeds) {
  const Replay replay = replay_without(training(5000).analysis(), HostWork::input);
  // 10 ms of launches and kernels are left of 15.
  EXPECT_NEAR(replay.step_s, 0.010, 1e-4);
  EXPECT_NEAR(share(replay.row, "input_wait_share"), 0, 1e-9);
}

TEST(Replay, AWaitLastsAsLongAsTheDeviceWorks) {
  Trace trace;
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
  Trace other;
  for (int i = 0; i < 40; ++i) other.kernel(1000 * i * (i % 7 + 1), 1000 * i * (i % 7 + 1) + 10, 990);
  EXPECT_THROW(difference_of(training(1000).analysis(), other.analysis()), Error);
}

/// One of two ranks, whose five exchanges begin at 1000 us of each step plus `late`, and end together.
TraceAnalysis rank_of(double late) {
  Trace trace;
  for (int i = 0; i < 7; ++i) {
    const double step = 10'000 * i;
    trace.kernel(step, step + 10, 900);
    trace.host("cuda_runtime", "cudaLaunchKernel", step + 1000 + late, 2, 1, 100 + i)
        .device("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", step + 1010 + late, 4000 - late, 100 + i)
        .host("user_annotation", "Optimizer.step#SGD.step", step + 9500, 400);
    for (int k = 0; k < 3; ++k) trace.kernel(step + 6000 + 1000 * k, step + 6010 + 1000 * k, 900);
  }
  return trace.analysis();
}

TEST(Ranks, WaitForTheOneThatComesLast) {
  std::vector<TraceAnalysis> ranks;
  ranks.push_back(rank_of(0));
  ranks.push_back(rank_of(3000));
  const RankWaits waits = rank_waits(ranks);
  ASSERT_EQ(waits.ranks.size(), 2U);
  EXPECT_EQ(waits.exchanges, 4U);
  EXPECT_EQ(waits.ranks[1].last, 4);
  EXPECT_NEAR(waits.ranks[0].waiting_s, 4 * 0.003, 1e-9);
  EXPECT_NEAR(waits.ranks[1].waiting_s, 0, 1e-9);
  EXPECT_NEAR(waits.ranks[0].transfer_s, 4 * 0.001, 1e-9);
  std::vector<Record> rows{row_of(ranks[0]), row_of(ranks[1])};
  set_waits(rows, waits, ranks);
  EXPECT_NEAR(share(rows[0], "peer_wait_share"), 0.3, 1e-6);
  EXPECT_EQ(number_in(rows[0].get("last_rank")), 1);
}

/// One of four ranks in two groups of two for models and two for batches. The one that is `late` comes 2000 us later to
/// each exchange; its clock is `ahead` us ahead. `kernel`: what its stage of the model runs.
TraceAnalysis rank_of_groups(int rank, bool is_late, double ahead, const char* kernel = "gemm") {
  Trace trace;
  const double late = is_late ? 2000 : 0;
  for (int i = 0; i < 7; ++i) {
    const double step = 20'000 * i + ahead;
    trace.kernel(step, step + 10, 900, kernel);
    trace.exchange(step + 1000 + late, 4000 - late, 1000 + 2 * i, rank < 2 ? "0, 1" : "2, 3", 50 + i);
    trace.exchange(step + 6000 + late, 4000 - late, 1001 + 2 * i, rank % 2 == 0 ? "0, 2" : "1, 3", 90 + i);
    trace.host("user_annotation", "Optimizer.step#SGD.step", step + 19'000, 400);
  }
  return trace.analysis();
}

TEST(Ranks, MeetInTheirGroups) {
  std::vector<TraceAnalysis> ranks;
  for (int rank = 0; rank < 4; ++rank) ranks.push_back(rank_of_groups(rank, rank == 2, 300 * rank));
  const RankWaits waits = rank_waits(ranks);
  ASSERT_EQ(waits.ranks.size(), 4U);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(waits.ranks[rank].last, rank == 2 ? 8 : 0) << rank;
    EXPECT_EQ(waits.ranks[rank].exchanges, 8U) << rank;
  }
  EXPECT_NEAR(waits.ranks[0].waiting_s, 4 * 0.002, 1e-9) << "for the batches that it shares with rank 2";
  EXPECT_NEAR(waits.ranks[3].waiting_s, 4 * 0.002, 1e-9) << "for the model that it shares with rank 2";
  EXPECT_NEAR(waits.ranks[1].waiting_s, 0, 1e-9);
  EXPECT_NEAR(waits.ranks[2].waiting_s, 0, 1e-9);
}

TEST(Ranks, StagesMeetThoseOfTheirOwnStage) {
  std::vector<TraceAnalysis> ranks;
  for (int rank = 0; rank < 4; ++rank)
    ranks.push_back(rank_of_groups(rank, rank == 3, 0, rank < 2 ? "first_stage" : "second_stage"));
  const RankWaits waits = rank_waits(ranks);
  ASSERT_EQ(waits.ranks.size(), 4U) << waits.note;
  EXPECT_EQ(waits.ranks[3].last, 4) << "in the group of its stage";
  EXPECT_NEAR(waits.ranks[2].waiting_s, 4 * 0.002, 1e-9);
  EXPECT_EQ(waits.ranks[0].waiting_s, 0);
  EXPECT_FALSE(waits.note.empty());
}

}  // namespace
}  // namespace gpubench
