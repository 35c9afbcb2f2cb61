#include "core/run/job_row.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/diagnose/findings.h"
#include "core/results/step_classes.h"
#include "core/traces/chrome_trace.h"
#include "tests/core/watch/agent_writer.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

// Fields of a step's record, and kinds of sites (agent/README.md).
constexpr int wait = 2, callbacks = 4, compile = 5, evaluation = 6, saving = 7, compute = 10, loading = 13;
constexpr std::uint32_t at_sync = 1, at_callback = 2, at_load = 3, at_compile = 6, at_evaluation = 9, at_other = 10,
                        at_forward = 11, at_backward = 12, at_optimizer = 13, own_code = 14;

/// A job of 200 steps on processors, each of 10 ms where a test does not say otherwise.
class JobRowTest : public TemporaryFolder {
 protected:
  JobRowTest() {
    writer_.step_records = 4096;
    writer_.site_records = 16;
  }

  /// Parts in milliseconds; what no part has is the user's own.
  void add_steps(int count, std::map<int, double> parts, std::uint64_t length_ms = 10, std::uint64_t flags = 0) {
    for (int i = 0; i < count; ++i) {
      now_ms_ += length_ms;
      writer_.steps.push_back({.end_ms = now_ms_, .kind = 1 + flags, .parts = parts});
    }
  }
  /// `times` and `milliseconds` of all 200 steps.
  void add_site(std::uint32_t kind, std::uint32_t line, std::uint64_t times, double milliseconds,
                const std::string& function = "main") {
    writer_.sites.push_back(
        {.kind = kind, .line = line, .times = times, .milliseconds = milliseconds, .function = function});
  }
  Record row() {
    writer_.write(file(""));
    files_ = read_agent_files(file(""));
    rank_.process = &files_.processes.at(0);
    rank_.steps = job_steps(*rank_.process);
    return job_row(rank_);
  }
  /// As the agent writes PyTorch's settings.
  static std::string thread_facts(int threads) {
    return fmt::format(R"({{"fact": "setting", "at": 1, "name": "threads", "value": {}}})"
                       "\n"
                       R"({{"fact": "setting", "at": 1, "name": "interop_threads", "value": 2}})"
                       "\n",
                       threads);
  }
  /// Four steps of ten operators of 800 us, which follow each other after gaps of so many microseconds.
  static TraceAnalysis window(int gap_us) {
    std::string events;
    for (int i = 0; i < 40; ++i)
      events += fmt::format(
          R"({}{{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": {}, "dur": 800, "pid": 1, "tid": 1}})",
          i == 0 ? "" : ",", i * (800 + gap_us));
    const std::string text = fmt::format(R"({{"schemaVersion": 1, "traceEvents": [{}]}})", events);
    return analyse(
        std::move(
            read_chrome_trace(std::make_unique<ByteSpanSource>("t.json", std::as_bytes(std::span(text)))).front()),
        {.known_steps = 4});
  }
  static double share(const Record& row, std::string_view column) { return number_in(row.get(column)).value_or(-1); }
  static double sum_of_shares(const Record& row) {
    double sum = 0;
    for (const StepClass& one : step_classes) sum += share(row, one.column);
    return sum;
  }
  static Finding first_finding(const Record& row) {
    static const RunFacts facts{.devices = {{.name = "cpu:0", .shares_host_memory = true}}, .machine = {}};
    const Diagnosis diagnosis = diagnose(row, facts, Words::pytorch);
    return diagnosis.findings.empty() ? Finding{} : diagnosis.findings.front();
  }

  AgentWriter writer_;
  AgentFiles files_;
  WatchedRank rank_;
  std::uint64_t now_ms_ = 100;
};

TEST_F(JobRowTest, AJobThatComputesHasNothingToGain) {
  add_steps(200, {{compute, 9.9}});
  const Record own = row();
  EXPECT_NEAR(sum_of_shares(own), 1, 1e-9);
  EXPECT_GT(share(own, "compute_share"), 0.98);
  EXPECT_TRUE(first_finding(own).rule == nullptr);
}

TEST_F(JobRowTest, AWaitForBatchesIsTheInputWithTheLineThatLoads) {
  writer_.facts = R"({"fact": "loader", "at": 1, "dataset": "Digits", "file": "train.py", "line": 40, )"
                  R"("getitem_file": "data.py", "getitem_line": 12, "num_workers": 0, "is_evaluation": false})"
                  "\n";
  add_steps(200, {{wait, 6}, {loading, 5.5}, {compute, 3.8}});
  add_site(at_load, 12, 200 * 64, 1100, "Digits.__getitem__");
  const Record own = row();
  EXPECT_NEAR(share(own, "input_wait_share"), 0.6, 0.01);
  const Finding finding = first_finding(own);
  EXPECT_EQ(finding.headline, "input bound (no workers): 60 % of the step");
  EXPECT_THAT(finding.evidence, HasSubstr("the loader of train.py:40 has num_workers=0"));
  EXPECT_THAT(finding.evidence, HasSubstr("data.py:12"));
}

TEST_F(JobRowTest, WorkersThatGetNoProcessorAreToldFromSlowOnes) {
  writer_.facts = R"({"fact": "loader", "at": 1, "dataset": "Digits", "file": "a.py", "line": 4, "num_workers": 2})"
                  "\n";
  add_steps(200, {{wait, 6}, {compute, 3.8}});
  rank_.use.seconds = 2;
  rank_.workers = JobProcess{.cpu_s = 1, .delayed_s = 2};
  EXPECT_EQ(first_finding(row()).kind, "workers without processors");
  rank_.workers = JobProcess{.cpu_s = 3.5, .delayed_s = 0.1};
  EXPECT_EQ(first_finding(row()).kind, "slow workers");
  rank_.workers = JobProcess{.cpu_s = 0.1, .delayed_s = 0, .storage_bytes = 4e8};
  EXPECT_EQ(first_finding(row()).kind, "slow disk");
}

TEST_F(JobRowTest, WorkersThatTakeTheProcessorsOfTheStepAreTheInput) {
  writer_.facts = R"({"fact": "loader", "at": 1, "dataset": "Digits", "file": "a.py", "line": 4, "num_workers": 2})"
                  "\n";
  add_steps(200, {{wait, 0.1}, {compute, 9.8}});
  rank_.use.seconds = 2;
  rank_.use.processors_s = 4;
  rank_.use.idle_s = 0.1;
  rank_.use.processes = {{.process = 100, .cpu_s = 2}, {.process = 101, .cpu_s = 1.9}};
  rank_.workers = JobProcess{.cpu_s = 1.9};
  const Finding finding = first_finding(row());
  EXPECT_EQ(finding.headline, "input bound (workers without processors): 49 % of the step");
  EXPECT_THAT(finding.evidence, HasSubstr("no processor is idle"));
  rank_.use.idle_s = 1;
  EXPECT_TRUE(first_finding(row()).rule == nullptr) << "workers have a processor of their own";
}

TEST_F(JobRowTest, WhatHappensInEveryTenthStepCountsInFull) {
  for (int i = 0; i < 20; ++i) {
    add_steps(9, {{compute, 9.8}});
    add_steps(1, {{compute, 9.8}, {evaluation, 90}}, 100);
  }
  add_site(at_evaluation, 70, 20, 1800, "evaluate");
  const Record own = row();
  EXPECT_NEAR(share(own, "host_share"), 0.48, 0.03) << "90 of 190 ms, with the first evaluation in the warm-up";
  EXPECT_NEAR(sum_of_shares(own), 1, 1e-9);
  const Finding finding = first_finding(own);
  EXPECT_EQ(finding.kind, "evaluation");
  EXPECT_THAT(finding.evidence, HasSubstr("train.py:70 (evaluate)"));
  EXPECT_EQ(finding.remedies, std::vector{Remedy::rarer_evaluation});
}

TEST_F(JobRowTest, CheckpointsCompilationAndCallbacksHaveTheirNames) {
  const struct {
    int field;
    std::uint32_t site;
    const char* kind;
  } cases[] = {{saving, 5, "saving"}, {compile, at_compile, "compilation"}, {callbacks, at_callback, "callbacks"}};
  for (const auto& one : cases) {
    writer_.steps.clear();
    writer_.sites.clear();
    now_ms_ = 100;
    add_steps(200, {{compute, 6.9}, {one.field, 3}});
    add_site(one.site, 33, 200, 600, "on_batch_end");
    const Finding finding = first_finding(row());
    EXPECT_EQ(finding.kind, one.kind);
    EXPECT_NEAR(finding.gain.value, 0.3, 0.02) << one.kind;
    EXPECT_THAT(finding.evidence, HasSubstr("train.py:33 (on_batch_end)")) << one.kind;
  }
}

TEST_F(JobRowTest, WhatIsCompiledOnceDoesNotComeAgain) {
  add_steps(100, {{compute, 9.9}});
  add_steps(1, {{compute, 9.9}, {compile, 400}}, 410);  // the model for its first evaluation
  add_steps(99, {{compute, 9.9}});
  const Record own = row();
  EXPECT_NEAR(sum_of_shares(own), 1, 1e-9);
  EXPECT_NEAR(share(own, "other_share"), 0.17, 0.02);
  EXPECT_EQ(first_finding(own).headline, "compute bound");
}

TEST_F(JobRowTest, ForwardPassesBehindTheOptimizerAreAnEvaluation) {
  add_steps(200, {{compute, 9.9}});
  add_site(at_forward, 66, 25, 250);
  add_site(at_backward, 68, 35, 350);
  add_site(at_optimizer, 69, 10, 100);
  add_site(at_forward, 71, 120, 1200);
  const Finding finding = first_finding(row());
  EXPECT_EQ(finding.kind, "evaluation");
  EXPECT_NEAR(finding.gain.value, 0.6, 0.02);
  EXPECT_THAT(finding.evidence, HasSubstr("train.py:71 (main)"));
}

TEST_F(JobRowTest, OfFunctionsThatTheLoopCallsTheLineIsNamed) {
  add_steps(200, {{compute, 3.9}});
  add_site(at_other, 60, 100, 1100);
  add_site(own_code, 12, 90, 1000, "batches");
  add_site(at_optimizer, 69, 10, 100);
  const Finding finding = first_finding(row());
  EXPECT_EQ(finding.kind, "Python");
  EXPECT_THAT(finding.evidence, HasSubstr("train.py:60 (main) 5.5 ms; of this 5 ms in train.py:12 (batches)"));
}

TEST_F(JobRowTest, LinesOfTheLoopThatDoNotTrainAreTheUsersOwn) {
  // As PyTorch's hooks see it: from a batch to the end of the backward pass all is forward.
  add_steps(200, {{compute, 9.9}});
  add_site(at_other, 60, 12, 40);  // takes the batch by hand, before the forward pass
  add_site(at_forward, 66, 50, 500);
  add_site(at_other, 67, 30, 300);  // the loss
  add_site(at_backward, 68, 60, 600);
  add_site(at_other, 69, 5, 5);  // beside the optimizer's own time
  add_site(at_optimizer, 69, 8, 80);
  add_site(at_other, 70, 45, 500, "main");  // writes statistics of all weights
  add_site(at_sync, 45, 200 * 138, 40, "WeightLog.write");
  const Record own = row();
  EXPECT_NEAR(share(own, "host_share"), 0.27, 0.02) << "lines 60 and 70";
  const Finding finding = first_finding(own);
  EXPECT_EQ(finding.kind, "Python");
  EXPECT_THAT(finding.evidence, HasSubstr("train.py:70 (main)"));
  EXPECT_THAT(finding.evidence, HasSubstr("train.py:45 (WeightLog.write) 138 times a step"));
}

TEST_F(JobRowTest, AWaitForTheStepIsWork) {
  // float(loss) of a job that computes: the time is where it shows, not what it costs.
  add_steps(200, {{compute, 0.5}, {3, 9.3}});
  add_site(at_sync, 20, 200, 1860);
  EXPECT_TRUE(first_finding(row()).rule == nullptr);
}

TEST_F(JobRowTest, RanksThatShareProcessorsWaitForThreadsOfEachOther) {
  writer_.facts = thread_facts(4);
  add_steps(200, {{compute, 9.9}});
  rank_.local_ranks = 2;
  rank_.use.seconds = 2;
  rank_.use.processors_s = 8;
  rank_.use.others_s = 0;
  rank_.use.processes = {{.process = 100, .cpu_s = 4, .delayed_s = 4}};
  const Finding finding = first_finding(row());
  ASSERT_NE(finding.rule, nullptr);
  EXPECT_EQ(finding.rule->name, "thread_contention");
  EXPECT_THAT(finding.evidence, HasSubstr("2 ranks with 4 threads each share 4 processors"));
  rank_.local_ranks = 1;
  EXPECT_TRUE(first_finding(row()).rule == nullptr) << "one rank may have as many threads as processors";
}

TEST_F(JobRowTest, OneProcessWaitsForItsOwnThreadsWhereItHasMoreThanProcessors) {
  writer_.facts = thread_facts(16);
  add_steps(200, {{compute, 9.9}});
  rank_.use.seconds = 2;
  rank_.use.processors_s = 4;
  rank_.use.others_s = 0;
  rank_.use.processes = {{.process = 100, .cpu_s = 4, .delayed_s = 4}};
  const Finding finding = first_finding(row());
  ASSERT_NE(finding.rule, nullptr);
  EXPECT_EQ(finding.rule->name, "thread_contention");
  EXPECT_THAT(finding.evidence, HasSubstr("threads of this job are ready to run 50 %"));
  EXPECT_THAT(finding.evidence, HasSubstr("16 threads compute on 2 processors"));
}

TEST_F(JobRowTest, LittlePythonWithoutALineIsTheFrameworks) {
  add_steps(200, {{compute, 9.9}});
  rank_.window = window(160);
  const Record own = row();
  EXPECT_NEAR(share(own, "framework_share"), 0.16, 0.02);
  EXPECT_NEAR(sum_of_shares(own), 1, 1e-9);
  ASSERT_NE(first_finding(own).rule, nullptr);
  EXPECT_EQ(first_finding(own).rule->name, "compute_bound");
  rank_.window = window(400);
  EXPECT_EQ(first_finding(row()).kind, "Python");
}

TEST_F(JobRowTest, StepsOnKeptBatchesProveTheInput) {
  add_steps(200, {{wait, 6}, {compute, 3.8}});
  add_steps(60, {{compute, 3.8}}, 4, 4096);
  const Record slow = row();
  EXPECT_NEAR(share(slow, "input_ratio"), 2.5, 0.05);
  EXPECT_THAT(first_finding(slow).evidence, HasSubstr("times [2"));
  writer_.steps.clear();
  now_ms_ = 100;
  add_steps(200, {{wait, 6}, {compute, 3.8}});
  add_steps(60, {{compute, 9.8}}, 10, 4096);
  EXPECT_NE(first_finding(row()).doubt, "") << "the wait is refuted: without it steps take as long";
}

TEST_F(JobRowTest, TooFewStepsAreSaid) {
  add_steps(5, {{compute, 9}});
  const Record own = row();
  EXPECT_FALSE(own.has("compute_share"));
  EXPECT_THAT(to_text(own.get("quality")), HasSubstr("of 5 training steps"));
}

TEST(Framework, IsThatOfTheMarkOfSteps) {
  AgentProcess process;
  for (const auto& [mark, name] : {std::pair{"torch optimizer Adam", "pytorch"},
                                   {"keras train batch", "tensorflow"},
                                   {"jit train_step", "jax"},
                                   {"", "unknown"}}) {
    process.step_mark = mark;
    EXPECT_EQ(framework_of(process), name) << mark;
  }
}

}  // namespace
}  // namespace gpubench
