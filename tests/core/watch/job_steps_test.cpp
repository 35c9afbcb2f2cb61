#include "core/watch/job_steps.h"

#include <gmock/gmock.h>

#include "tests/core/watch/agent_writer.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A job that is written step by step.
class JobStepsTest : public TemporaryFolder {
 protected:
  JobStepsTest() { writer_.step_records = 4096; }

  WrittenStep& add(std::uint64_t duration_ms, std::uint64_t flags = 0, std::map<int, double> parts = {}) {
    now_ms_ += duration_ms;
    writer_.steps.push_back({.end_ms = now_ms_, .kind = 1 + flags, .parts = std::move(parts)});
    return writer_.steps.back();
  }
  void add_evaluation(std::uint64_t duration_ms, std::map<int, double> parts = {}) {
    add(duration_ms, 1, std::move(parts));
  }
  void add_steps(std::size_t count, std::uint64_t duration_ms = 10, std::uint64_t flags = 0) {
    for (std::size_t i = 0; i < count; ++i) add(duration_ms, flags);
  }
  JobSteps steps(const JobStepsOptions& options = {}) {
    writer_.write(file(""));
    files_ = read_agent_files(file(""));
    EXPECT_THAT(files_.faults, IsEmpty());
    return job_steps(files_.processes.at(0), options);
  }
  Clock::time_point at_ms(std::uint64_t milliseconds) const { return monotonic_time(milliseconds * 1'000'000); }

  AgentWriter writer_;
  AgentFiles files_;
  std::uint64_t now_ms_ = 100;
};

TEST_F(JobStepsTest, TheTimeOfAStepIsTheSumOfAllByTheirNumber) {
  add_steps(10);
  for (int i = 0; i < 40; ++i) add_steps(4), add(60);
  const JobSteps result = steps();
  EXPECT_EQ(result.why_none, "");
  EXPECT_EQ(result.steps + result.warmup_steps, 210);
  EXPECT_NEAR(result.step_s.value, 0.02, 0.0005) << "the median is 10 ms";
  EXPECT_TRUE(result.step_s.interval.contains(result.step_s.value));
  EXPECT_LT(result.step_s.interval.high, 0.03);
  EXPECT_DOUBLE_EQ(result.batches_per_step, 1);
}

TEST_F(JobStepsTest, TheWarmupDoesNotCount) {
  for (const std::uint64_t slow : {900, 700, 400, 200, 90, 60, 40, 30}) add(slow);
  add_steps(200);
  const JobSteps result = steps();
  EXPECT_NEAR(result.step_s.value, 0.01, 0.0002);
  EXPECT_GE(result.warmup_steps, 8);
  EXPECT_LE(result.warmup_steps, 60);
}

TEST_F(JobStepsTest, TheWindowAndTheStepBehindItDoNotCount) {
  add_steps(50);
  add_steps(10, 40, 256);
  add(500);  // the profiler writes
  add_steps(50);
  writer_.header = {{104, 2}, {112, 50}, {120, 60}};
  const JobSteps result = steps();
  EXPECT_DOUBLE_EQ(result.step_s.value, 0.01);
  EXPECT_EQ(result.window_steps, 11);
  ASSERT_TRUE(result.window);
  EXPECT_EQ(result.window->begin, at_ms(600));
  EXPECT_EQ(result.window->end, at_ms(1500));
  ASSERT_THAT(result.spans, SizeIs(2));
  EXPECT_EQ(result.spans[0].end, at_ms(600));
  EXPECT_EQ(result.spans[1], (TimeSpan{at_ms(1500), at_ms(2000)}));
}

TEST_F(JobStepsTest, SharesComeFromSums) {
  add_steps(10);
  for (int i = 0; i < 100; ++i) add(10, 0, {{2, i % 10 == 0 ? 8 : 0}, {3, 1}, {10, 1}, {13, i % 10 == 0 ? 6 : 0}});
  const JobSteps result = steps({.least_warmup = 10, .most_warmup_share = 0});
  EXPECT_NEAR(result.part(JobStepPart::input_wait).share.value, 0.08, 0.002);
  EXPECT_NEAR(result.part(JobStepPart::sync).share.value, 0.1, 0.002);
  EXPECT_NEAR(result.part(JobStepPart::loading).share.value, 0.06, 0.002);
  EXPECT_NEAR(result.part(JobStepPart::input_wait).seconds_per_step, 0.0008, 0.00002);
  EXPECT_EQ(result.part(JobStepPart::input_wait).steps_with_it, 10);
  EXPECT_EQ(result.part(JobStepPart::callbacks).steps_with_it, 0);
  EXPECT_NEAR(result.other_share, 0.72, 0.01);
  const Interval interval = result.part(JobStepPart::input_wait).share.interval;
  EXPECT_LT(interval.low, 0.08);
  EXPECT_GT(interval.high, 0.08);
  EXPECT_LT(interval.high, 0.2);
}

TEST_F(JobStepsTest, KindsOfStepsAreToldApart) {
  add_steps(10);
  for (int epoch = 0; epoch < 5; ++epoch) {
    add(50, 1024, {{2, 40}});
    add_steps(17);
    add(110, 512, {{5, 100}});
    add(30, 2048, {{7, 20}});
    for (int i = 0; i < 4; ++i) add_evaluation(15, {{2, 3}});
  }
  add_steps(1);
  const JobSteps result = steps({.least_warmup = 10, .most_warmup_share = 0});
  ASSERT_THAT(result.kinds, SizeIs(5));
  EXPECT_EQ(result.steps, 101);
  EXPECT_EQ(result.kind(StepKind::training)->count, 86);
  EXPECT_DOUBLE_EQ(result.kind(StepKind::training)->step_s.value, 0.01);
  EXPECT_NEAR(result.kind(StepKind::first_of_epoch)->extra_s, 5 * 0.04 / 101, 1e-9);
  EXPECT_NEAR(result.kind(StepKind::first_of_epoch)->input_wait_share, 0.8, 1e-9);
  EXPECT_NEAR(result.kind(StepKind::compile)->extra_s, 5 * 0.1 / 101, 1e-9);
  EXPECT_EQ(result.kind(StepKind::checkpoint)->count, 5);
  EXPECT_NEAR(result.kind(StepKind::checkpoint)->step_s.value, 0.03, 1e-9);
  EXPECT_EQ(result.kind(StepKind::evaluation)->count, 20);
  EXPECT_NEAR(result.kind(StepKind::evaluation)->step_s.value, 0.015, 1e-9);
  EXPECT_NEAR(result.kind(StepKind::evaluation)->input_wait_share, 0.2, 1e-9);
  const double all_s = 0.86 + 5 * (0.05 + 0.11 + 0.03 + 0.06);
  EXPECT_NEAR(result.seconds, all_s, 1e-9);
  EXPECT_NEAR(result.part(JobStepPart::evaluation).share.value, 0.3 / all_s, 1e-9);
  double shares = 0;
  for (const KindOfSteps& kind : result.kinds) shares += kind.share;
  EXPECT_NEAR(shares, 1, 1e-9);
}

TEST_F(JobStepsTest, AnEpochMayBeginWithItsEvaluation) {
  add_steps(11);
  for (int i = 0; i < 10; ++i) {
    add(10, 1 + 1024);  // the mark lies in an evaluation record
    add(30);
    add_steps(9);
  }
  const JobSteps result = steps({.least_warmup = 10, .most_warmup_share = 0});
  EXPECT_EQ(result.kind(StepKind::first_of_epoch)->count, 10);
  EXPECT_DOUBLE_EQ(result.kind(StepKind::first_of_epoch)->step_s.value, 0.03);
}

TEST_F(JobStepsTest, EvaluationWithoutRecordsOfItsOwn) {
  add_steps(10);
  for (int i = 0; i < 20; ++i) add_steps(4), add(60, 0, {{6, 50}});
  const JobSteps result = steps({.least_warmup = 10, .most_warmup_share = 0});
  EXPECT_DOUBLE_EQ(result.kind(StepKind::training)->step_s.value, 0.01);
  EXPECT_EQ(result.kind(StepKind::evaluation)->count, 20);
  EXPECT_NEAR(result.part(JobStepPart::evaluation).share.value, 0.5, 1e-9);
}

TEST_F(JobStepsTest, EvaluationThatIsToldTwiceCountsOnce) {
  add_steps(10);
  for (int i = 0; i < 20; ++i) {
    add_steps(4);
    for (int batch = 0; batch < 5; ++batch) add_evaluation(10);
    add(10, 0, {{6, 50}});  // of the batches before it
  }
  const JobSteps result = steps({.least_warmup = 10, .most_warmup_share = 0});
  EXPECT_DOUBLE_EQ(result.kind(StepKind::training)->step_s.value, 0.01);
  EXPECT_EQ(result.kind(StepKind::evaluation)->count, 100);
  EXPECT_NEAR(result.part(JobStepPart::evaluation).share.value, 0.5, 1e-9);
  EXPECT_EQ(result.cut_parts, 0);
}

TEST_F(JobStepsTest, ABriefEvaluationIsNotPartOfTheStepBehindIt) {
  add_steps(10);
  for (int i = 0; i < 20; ++i) {
    add_steps(4);
    add_evaluation(3);  // of it a millisecond before it began
    add(10, 0, {{6, 2}});
  }
  const JobSteps result = steps({.least_warmup = 10, .most_warmup_share = 0});
  EXPECT_NEAR(result.kind(StepKind::training)->step_s.value, 0.0102, 1e-9);
  EXPECT_NEAR(result.part(JobStepPart::evaluation).share.value, 2.0 / 53, 1e-9);
}

TEST_F(JobStepsTest, SitesAreDividedByTheStepsThatTheyCount) {
  add_steps(120);
  writer_.sites = {{.kind = 1, .line = 5, .times = 50, .milliseconds = 100},
                   {.kind = 1, .line = 9, .times = 1000, .milliseconds = 300},
                   {.kind = 7, .line = 2, .times = 3},
                   {.kind = 2, .line = 1, .times = 0}};
  writer_.header = {{192, 20}, {160, 12}};
  const JobSteps result = steps();
  ASSERT_THAT(result.sites, SizeIs(3));
  EXPECT_EQ(result.sites[0].site->line, 9) << "the most expensive of its kind first";
  EXPECT_DOUBLE_EQ(result.sites[0].times_per_step, 10);
  EXPECT_DOUBLE_EQ(result.sites[0].seconds_per_step, 0.003);
  EXPECT_DOUBLE_EQ(result.sites[0].share, 0.3);
  EXPECT_DOUBLE_EQ(result.sites[1].times_per_step, 0.5);
  EXPECT_EQ(result.sites[2].site->kind, SiteKind::stack);
  EXPECT_DOUBLE_EQ(result.sites[2].share, 0.25);
}

TEST_F(JobStepsTest, TheAgentTellsTheEndOfTheWarmup) {
  add_steps(30, 20);
  add_steps(100);
  writer_.header = {{192, 30}};
  const JobSteps result = steps();
  EXPECT_EQ(result.warmup_steps, 30);
  EXPECT_DOUBLE_EQ(result.step_s.value, 0.01);
}

TEST_F(JobStepsTest, SitesOfWorkersAreSummedUp) {
  add_steps(20);
  writer_.write(file(""));
  const auto add_worker = [&](int process, std::uint64_t parent, double milliseconds) {
    AgentWriter worker;
    worker.process = process;
    worker.header = {{40, parent}};
    worker.sites = {{.kind = 3, .line = 5, .times = 10, .milliseconds = milliseconds, .function = "Digits.__getitem__"},
                    {.kind = 3, .line = 9, .times = 0}};
    worker.write(file(""));
  };
  add_worker(101, 100, 50);
  add_worker(102, 101, 30);  // through a server that forks
  add_worker(103, 7, 1000);
  add_worker(104, 105, 1000);
  add_worker(105, 104, 1000);
  const AgentFiles files = read_agent_files(file(""));
  const std::vector<WorkerSite> sites = worker_sites(files, *files.ranks().at(0));
  ASSERT_THAT(sites, SizeIs(1));
  EXPECT_EQ(sites[0].workers, 2);
  EXPECT_EQ(sites[0].times, 20);
  EXPECT_DOUBLE_EQ(sites[0].seconds_per_time(), 0.004);
  EXPECT_EQ(sites[0].function, "Digits.__getitem__");
}

TEST_F(JobStepsTest, StepsOnKeptBatchesAreApart) {
  add_steps(60);
  add_steps(1, 300, 4096);
  add_steps(40, 4, 4096);
  const JobSteps result = steps();
  EXPECT_DOUBLE_EQ(result.step_s.value, 0.01);
  EXPECT_EQ(result.kept_steps, 40);
  ASSERT_TRUE(result.kept_step_s);
  EXPECT_DOUBLE_EQ(result.kept_step_s->value, 0.004);
}

TEST_F(JobStepsTest, StepsBehindKeptBatchesDoNotCount) {
  add_steps(60);
  add_steps(10, 4, 4096);
  add_steps(60, 2);  // loaders have filled their queues meanwhile
  EXPECT_DOUBLE_EQ(steps().step_s.value, 0.01);
}

TEST_F(JobStepsTest, PartsLongerThanTheirStepAreCut) {
  add_steps(10);
  for (int i = 0; i < 50; ++i) add(10, 0, {{2, i == 7 ? 5000 : 5}});
  const JobSteps result = steps({.least_warmup = 10, .most_warmup_share = 0});
  EXPECT_EQ(result.cut_parts, 1);
  EXPECT_LE(result.part(JobStepPart::input_wait).share.value, 1);
}

TEST_F(JobStepsTest, ProcessorTimeOfTheMainThread) {
  add_steps(10);
  for (int i = 1; i <= 50; ++i) {
    WrittenStep& step = add(10);
    step.parts = {{11, 4.0 * i}, {12, 1e-6 * i}};
  }
  const JobSteps result = steps({.least_warmup = 10, .most_warmup_share = 0});
  ASSERT_TRUE(result.main_thread_share && result.involuntary_switches_per_s);
  EXPECT_NEAR(*result.main_thread_share, 0.4, 1e-9);
  EXPECT_NEAR(*result.involuntary_switches_per_s, 100, 1e-9);
}

TEST_F(JobStepsTest, ForgottenStepsNeedNoWarmup) {
  writer_.step_records = 32;
  add_steps(5, 500);
  add_steps(95);
  const JobSteps result = steps();
  EXPECT_EQ(result.forgotten_steps, 68);
  EXPECT_EQ(result.steps, 31);
  EXPECT_DOUBLE_EQ(result.step_s.value, 0.01);
}

TEST_F(JobStepsTest, WithoutEnoughStepsItSaysWhy) {
  add_steps(9);
  EXPECT_THAT(steps().why_none, HasSubstr("of 9 training steps"));
  EXPECT_THAT(steps().why_none, HasSubstr("8 are needed"));
  writer_.steps.clear();
  EXPECT_EQ(steps().why_none, "the agent has seen no step");
  add_evaluation(10);
  EXPECT_EQ(steps().why_none, "the agent has seen no training step, only evaluation");
  EXPECT_EQ(job_steps(AgentProcess{}).why_none, "the agent has written no counters");
}

}  // namespace
}  // namespace gpubench
