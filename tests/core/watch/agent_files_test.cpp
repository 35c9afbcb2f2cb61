#include "core/watch/agent_files.h"

#include <gmock/gmock.h>
#include <random>
#include <sys/stat.h>

#include "core/watch/job_steps.h"
#include "tests/core/watch/agent_writer.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AgentFilesTest : public TemporaryFolder {
 protected:
  AgentFiles read(AgentDetail detail = AgentDetail::all) const { return read_agent_files(file(""), detail); }
  static AgentWriter with_steps(std::size_t count) {
    AgentWriter writer;
    for (std::size_t i = 1; i <= count; ++i) writer.steps.push_back({.end_ms = 10 * i});
    return writer;
  }
};

TEST_F(AgentFilesTest, StepsSitesAndFactsOfAProcess) {
  AgentWriter writer = with_steps(2);
  writer.steps[1] = {.end_ms = 30, .kind = 1 + 256 + 2048, .parts = {{2, 5}, {3, 1}, {10, 7}, {13, 4}}, .batches = 2};
  writer.sites = {{.kind = 3, .line = 12, .times = 8, .milliseconds = 40, .function = "Digits.__getitem__"}};
  writer.header = {{48, 1},  {56, 2},          {64, 1},           {104, 2}, {112, 1},
                   {120, 2}, {128, 3'000'000}, {144, 40'000'000}, {152, 3}};
  writer.facts =
      "{\"fact\": \"process\", \"at\": 5, \"role\": \"job\", \"argv\": [\"train.py\"]}\n"
      "{\"fact\": \"framework\", \"name\": \"torch\"}\n{\"fact\": \"framework\", \"name\": \"lightning\"}\n";
  writer.write(file(""));
  std::filesystem::create_directory(file("100-7.window"));
  const AgentFiles files = read();
  EXPECT_THAT(files.faults, IsEmpty());
  ASSERT_THAT(files.processes, SizeIs(1));
  const AgentProcess& process = files.processes[0];
  EXPECT_TRUE(process.has_counters);
  EXPECT_EQ(process.process, 100);
  EXPECT_EQ(process.started_ticks, 7);
  EXPECT_EQ(process.rank, 1);
  EXPECT_EQ(process.ranks, 2);
  EXPECT_EQ(process.training_steps, 2);
  EXPECT_EQ(process.window, WindowState::written);
  EXPECT_EQ(process.window_folder, file("100-7.window"));
  EXPECT_TRUE(process.has_ended);
  EXPECT_DOUBLE_EQ(process.agent_s, 0.003);
  EXPECT_EQ(process.step_mark, "torch optimizer SGD");
  EXPECT_EQ(process.script, "train.py");
  ASSERT_THAT(process.steps, SizeIs(2));
  const AgentStep& step = process.steps[1];
  EXPECT_EQ(step.end, monotonic_time(30'000'000));
  EXPECT_TRUE(step.is_training && step.in_window && step.saved);
  EXPECT_FALSE(step.compiled || step.first_of_epoch || step.on_kept_batches);
  EXPECT_DOUBLE_EQ(step.part(JobStepPart::input_wait), 0.005);
  EXPECT_DOUBLE_EQ(step.part(JobStepPart::sync), 0.001);
  EXPECT_DOUBLE_EQ(step.part(JobStepPart::compute), 0.007);
  EXPECT_DOUBLE_EQ(step.part(JobStepPart::loading), 0.004);
  EXPECT_EQ(step.batches, 2);
  ASSERT_THAT(process.sites, SizeIs(1));
  EXPECT_EQ(process.sites[0].kind, SiteKind::loading);
  EXPECT_EQ(process.sites[0].file, "train.py");
  EXPECT_EQ(process.sites[0].line, 12U);
  EXPECT_EQ(process.sites[0].function, "Digits.__getitem__");
  EXPECT_DOUBLE_EQ(process.sites[0].seconds, 0.04);
  EXPECT_EQ(process.fact("process")->text("role"), "job");
  EXPECT_EQ(process.fact("framework")->text("name"), "lightning") << "the last one";
  EXPECT_THAT(process.facts_named("framework"), SizeIs(2));
  EXPECT_EQ(process.fact("loader"), nullptr);
}

TEST_F(AgentFilesTest, HeadsHaveNoSteps) {
  AgentWriter writer = with_steps(5);
  writer.facts = "{\"fact\": \"process\"}\n";
  writer.write(file(""));
  const AgentFiles files = read(AgentDetail::heads);
  ASSERT_THAT(files.processes, SizeIs(1));
  EXPECT_EQ(files.processes[0].training_steps, 5);
  EXPECT_THAT(files.processes[0].steps, IsEmpty());
  EXPECT_THAT(files.processes[0].facts, IsEmpty());
}

TEST_F(AgentFilesTest, ARingHoldsTheNewest) {
  AgentWriter writer = with_steps(100);
  writer.write(file(""));
  const AgentProcess process = read().processes.at(0);
  EXPECT_EQ(process.first_step, 36);
  ASSERT_THAT(process.steps, SizeIs(64));
  EXPECT_EQ(process.steps.front().end, monotonic_time(370'000'000));
  EXPECT_EQ(process.steps.back().end, monotonic_time(1000'000'000));
}

TEST_F(AgentFilesTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_ERROR(HasSubstr("the agent's folder '/nowhere' cannot be read: No such file"), read_agent_files("/nowhere"));
}

TEST_F(AgentFilesTest, OtherFilesAreLeftAlone) {
  for (const char* name : {"notes.txt", "-7.counters", "12.counters", "x-7.counters", "0-7.facts", "12-.facts"})
    write(name, "{");
  EXPECT_THAT(read().processes, IsEmpty());
  EXPECT_THAT(read().faults, IsEmpty());
}

TEST_F(AgentFilesTest, CountersThatAreNoneAreNamed) {
  const AgentWriter writer = with_steps(3);
  const auto fault = [&](const std::string& bytes) {
    writer.write(file(""), bytes);
    const AgentFiles files = read();
    EXPECT_FALSE(files.processes.at(0).has_counters);
    return files.faults.empty() ? "" : files.faults[0];
  };
  const auto changed = [&](std::size_t at, std::uint32_t value) {
    std::string bytes = writer.counters();
    std::memcpy(&bytes[at], &value, sizeof value);
    return bytes;
  };
  EXPECT_EQ(fault(""), "100-7.counters: 0 bytes, too few for a header");
  EXPECT_EQ(fault(std::string(5000, 'x')), "100-7.counters: not a file of counters: it does not begin with GPBWATCH");
  EXPECT_EQ(fault(changed(8, 7)), "100-7.counters: version 7; this gpubench reads version 1");
  EXPECT_THAT(fault(changed(12, 8)), HasSubstr("bytes of the header: 8, which is not from 1024"));
  EXPECT_THAT(fault(changed(16, 0xFFFFFFFF)), HasSubstr("step records: 4294967295, which is not from 1"));
  EXPECT_THAT(fault(changed(20, 64)), HasSubstr("bytes of a step record: 64"));
  EXPECT_THAT(fault(changed(24, 1 << 20)), HasSubstr("site records: 1048576"));
  EXPECT_THAT(fault(changed(28, 1)), HasSubstr("bytes of a site record: 1"));
  EXPECT_EQ(fault(changed(32, 4711)), "100-7.counters: it is of process 4711");
}

TEST_F(AgentFilesTest, OfACutFileWhatIsThereIsRead) {
  AgentWriter writer = with_steps(10);
  writer.sites = {{}, {}};
  writer.write(file(""), writer.counters().substr(0, 4096 + 4 * 128 + 50));
  const AgentFiles files = read();
  EXPECT_THAT(files.processes.at(0).steps, SizeIs(4));
  EXPECT_THAT(files.faults,
              ElementsAre(HasSubstr("6 of 10 step records cannot be used"), HasSubstr("0 of 2 sites are there")));
}

TEST_F(AgentFilesTest, CountsThatLieReadNoMoreThanThereIs) {
  AgentWriter writer = with_steps(3);
  writer.header = {{88, ~0ULL}, {96, ~0ULL}};
  writer.write(file(""));
  const AgentFiles files = read();
  EXPECT_LE(files.processes.at(0).steps.size(), 64);
  EXPECT_THAT(files.processes.at(0).sites, SizeIs(4));
  EXPECT_THAT(files.faults, SizeIs(2));
}

TEST_F(AgentFilesTest, StepsBehindTheLastBreakAreKept) {
  AgentWriter writer = with_steps(10);
  writer.steps[4].end_ms = 3;
  writer.write(file(""));
  const AgentFiles files = read();
  EXPECT_EQ(files.processes.at(0).first_step, 5);
  EXPECT_THAT(files.processes.at(0).steps, SizeIs(5));
  EXPECT_THAT(files.faults, ElementsAre(HasSubstr("5 of 10 step records cannot be used")));
}

TEST_F(AgentFilesTest, FactsThatAreNoneAreNamed) {
  AgentWriter writer = with_steps(1);
  writer.facts = "{\"fact\": \"a\"}\nnonsense\n[1]\n{\"at\": 3}\n{\"fact\": \"b\", \"value\": NaN}\n{\"fact\": \"c";
  writer.write(file(""));
  const AgentFiles files = read();
  EXPECT_THAT(files.processes.at(0).facts, SizeIs(2));
  EXPECT_THAT(files.faults,
              ElementsAre(HasSubstr("line 2"), HasSubstr("line 3: it has no 'fact'"),
                          HasSubstr("line 4: it has no 'fact'"), HasSubstr("the last line is cut short")));
}

TEST_F(AgentFilesTest, ManyFaultsAreCounted) {
  for (int i = 1; i <= 30; ++i) write(std::to_string(i) + "-1.counters", "x");
  const AgentFiles files = read();
  EXPECT_THAT(files.faults, SizeIs(most_agent_faults + 1));
  EXPECT_EQ(files.faults.back(), "10 more faults");
}

TEST_F(AgentFilesTest, PipesAndLinksAreNotFollowed) {
  ASSERT_EQ(::mkfifo(file("1-1.counters").c_str(), 0600), 0);
  std::filesystem::create_symlink("/etc/passwd", file("2-1.facts"));
  std::filesystem::create_directory(file("3-1.counters"));
  EXPECT_THAT(read().faults, ElementsAre("1-1.counters: not a regular file", HasSubstr("2-1.facts: "),
                                         "3-1.counters: not a regular file"));
}

TEST_F(AgentFilesTest, RanksAreWhatHasTrained) {
  const auto add = [&](int process, std::uint64_t started, std::int64_t rank, std::size_t steps) {
    AgentWriter writer = with_steps(steps);
    writer.process = process;
    writer.started = started;
    writer.header = {{48, static_cast<std::uint64_t>(rank)}};
    writer.write(file(""));
  };
  add(10, 1, -1, 0);  // a launcher
  add(11, 2, 1, 3);
  add(12, 2, 0, 3);
  add(13, 9, 1, 4);  // rank 1 again, after a restart
  const AgentFiles files = read();
  std::vector<int> ranks;
  for (const AgentProcess* one : files.ranks()) ranks.push_back(one->process);
  EXPECT_THAT(ranks, ElementsAre(12, 13));
}

TEST_F(AgentFilesTest, ChangedBytesAreReadOrNamed) {
  AgentWriter writer = with_steps(40);
  for (std::size_t i = 0; i < writer.steps.size(); ++i) {
    writer.steps[i].parts = {{2, 3}, {3, 1}, {6, i % 7 == 0 ? 5 : 0}, {11, 8.0 * static_cast<double>(i)}};
    if (i % 9 == 0) writer.steps[i].kind = 2;
  }
  writer.sites = {{.kind = 3}, {.kind = 7}, {.kind = 1}};
  writer.header = {{160, 5}};
  writer.facts =
      "{\"fact\": \"process\", \"role\": \"job\", \"argv\": [\"a\", \"b\"]}\n{\"fact\": \"x\", \"y\": 1.5}\n";
  const std::string counters = writer.counters(), facts = writer.facts;
  std::mt19937_64 random(45);
  const auto changed = [&](std::string bytes) {
    const std::size_t count = 1 + random() % 8;
    for (std::size_t i = 0; i < count; ++i) {
      // Half of the changes hit the header's numbers, on which everything else depends.
      const std::size_t at = random() % (random() % 2 == 0 ? std::min<std::size_t>(200, bytes.size()) : bytes.size());
      bytes[at] = static_cast<char>(random() % 4 == 0 ? 0xFF : random());
    }
    if (random() % 5 == 0) bytes.resize(random() % bytes.size());
    return bytes;
  };
  std::size_t with_steps = 0;
  for (int i = 0; i < 1500; ++i) {
    writer.facts = changed(facts);
    writer.write(file(""), changed(counters));
    const AgentFiles files = read();
    for (const AgentProcess& process : files.processes) {
      const JobSteps steps = job_steps(process);
      with_steps += steps.steps > 0 ? 1 : 0;
      EXPECT_EQ(steps.steps == 0, !steps.why_none.empty());
      for (const SharePart& part : steps.parts) {
        EXPECT_GE(part.share.value, 0);
        EXPECT_LE(part.share.value, 1 + 1e-9);
      }
      for (const StepSite& site : steps.sites) EXPECT_LE(site.share, 1);
    }
  }
  EXPECT_GT(with_steps, 300) << "most changes leave something to read";
}

}  // namespace
}  // namespace gpubench
