// gpubench watch and tune with jobs that are no scripts: shells, and Python with a stub of PyTorch.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A loop with the stub of PyTorch in which loading a sample takes `load` ms, a forward pass 10 ms, and `extra` is run
/// in each step.
std::string training(const std::string& load, const std::string& extra = "pass") {
  return R"(import os, sys, time
import torch

class Photos:
    def __len__(self):
        return 40
    def __getitem__(self, index):
        time.sleep()" +
         load + R"( * 1e-3)
        return torch.Tensor(float(index))

class Net(torch.nn.Module):
    def forward(self, x):
        time.sleep(10e-3)
        return super().forward(x)

def main():
    model = Net([torch.Tensor(1.0)])
    optimizer = torch.optim.SGD(model.parameters())
    print("begins", flush=True)
    for epoch in range(int(sys.argv[1]) if len(sys.argv) > 1 else 10):
        for batch in torch.utils.data.DataLoader(Photos(), batch_size=2):
            loss = model(batch[0])
            loss.backward()
            optimizer.step()
            )" +
         extra + R"(
    print("done")

main()
)";
}

class Watch : public FolderTest {
 protected:
  Ended watch(const std::vector<std::string>& job, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), "watch");
    options.emplace_back("--");
    options.insert(options.end(), job.begin(), job.end());
    return run_program(options, path(), stubs());
  }
  static std::vector<std::string> stubs() {
    return {std::string("PYTHONPATH=") + GPUBENCH_SOURCE_DIR + "/tests/agent/stubs/site-packages"};
  }
  /// Python with the stub; empty where there is no Python.
  std::vector<std::string> python(const std::string& script) {
    if (!std::filesystem::exists("/usr/bin/python3")) return {};
    write("job.py", script);
    return {"/usr/bin/python3", "-B", "job.py"};
  }
  std::vector<std::string> without_end(const std::string& load) {
    std::vector<std::string> job = python(training(load));
    if (!job.empty()) job.emplace_back("1000000");
    return job;
  }
};

TEST_F(Watch, TheJobsOutputAndStatusPassThrough) {
  const Ended ended = watch({"/bin/sh", "-c", "cat; echo out; printf 'a\\000b'; echo err >&2; exit 7"});
  EXPECT_EQ(ended.status, 7);
  EXPECT_EQ(ended.out, std::string("out\na\0b", 7));
  EXPECT_THAT(ended.err, AllOf(HasSubstr("err\n"), HasSubstr("no Python process has loaded the agent")));
}

TEST_F(Watch, ASignalThatEndsTheJobEndsTheProgram) {
  EXPECT_EQ(watch({"/bin/sh", "-c", "kill -TERM $$"}).status, 128 + 15);
  EXPECT_EQ(watch({"/bin/sh", "-c", "kill -SEGV $$"}).status, 128 + 11);
}

TEST_F(Watch, WhatStandsBehindTheDashesIsTheJobs) {
  EXPECT_EQ(watch({"/bin/echo", "--help", "--json", "--", "run", "-h"}).out, "--help --json -- run -h\n");
}

TEST_F(Watch, AJobThatCannotBeStartedIsAnError) {
  const Ended ended = watch({"no_such_program"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("no_such_program"));
  const Ended nowhere = run_program({"watch", "--", "/bin/echo", "out"}, path(), {"TMPDIR=/proc"});
  EXPECT_EQ(nowhere.out, "out\n") << "the job runs in any case";
  EXPECT_THAT(nowhere.err, HasSubstr("there is no folder for the agent's files"));
  EXPECT_EQ(run_program({"watch"}, path()).status, 2);
  EXPECT_THAT(run_program({"watch", "--for", "soon", "--", "true"}, path()).err, HasSubstr("--for soon is no time"));
}

TEST_F(Watch, PythonWithoutTheAgentIsSaid) {
  if (python("").empty()) GTEST_SKIP() << "there is no /usr/bin/python3";
  write("plain.py", "print('out')\n");
  const Ended isolated = watch({"/usr/bin/python3", "-I", "plain.py"});
  EXPECT_EQ(isolated.out, "out\n");
  EXPECT_THAT(isolated.err, HasSubstr("-S, -I or -E"));
  EXPECT_THAT(watch({"/usr/bin/python3", "plain.py"}).err, HasSubstr("has imported neither PyTorch"));
}

TEST_F(Watch, NamesTheLineThatLoads) {
  const std::vector<std::string> job = python(training("12"));
  if (job.empty()) GTEST_SKIP() << "there is no /usr/bin/python3";
  const Ended ended = watch(job);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, "begins\ndone\n");
  EXPECT_THAT(ended.err, AllOf(HasSubstr("input bound (no workers)"), HasSubstr("job.py:7 (Photos.__getitem__)"),
                               HasSubstr("num_workers=0"), HasSubstr("DataLoader(<DATASET>, num_workers=<N>")));
  const Ended shown = run_program({"show", "job", "--format", "json"}, path());
  EXPECT_THAT(shown.out, HasSubstr("input_wait_share"));
}

TEST_F(Watch, CountersTellPartsAndLinesInTheTerminalAndOnThePage) {
  const std::vector<std::string> job = python(training("12"));
  if (job.empty()) GTEST_SKIP() << "there is no /usr/bin/python3";
  const Ended ended = watch(job);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("part of the step"), HasSubstr("input wait"), HasSubstr("what it does"),
                               HasSubstr("loading"), Not(HasSubstr("what the main thread did"))));
  const std::string page = contents(find("report.html"));
  EXPECT_THAT(page, AllOf(HasSubstr("Lines of the job"), HasSubstr("job.py:7 (Photos.__getitem__)")));
}

TEST_F(Watch, AgainstAnEarlierRunItSaysWhatBecameShorter) {
  if (python("").empty()) GTEST_SKIP() << "there is no /usr/bin/python3";
  const std::string slow = watch(python(training("12"))).err;
  const Ended fast = watch(python(training("2")), {"--against", "job"});
  EXPECT_THAT(fast.err, AllOf(HasSubstr("difference: a step takes"), HasSubstr(" less ("), HasSubstr("input wait -"),
                              HasSubstr("loading job.py:7 (Photos.__getitem__)")))
      << slow;
}

TEST_F(Watch, WhatCannotBeComparedOrWrittenIsSaidBeforeTheJobBegins) {
  const Ended unknown = watch({"/bin/echo", "out"}, {"--against", "no_such_run"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no_such_run"));
  write("file", "");
  const Ended no_folder = watch({"/bin/echo", "out"}, {"--out", "file"});
  EXPECT_EQ(no_folder.status, 2);
  EXPECT_THAT(no_folder.err, HasSubstr("is no folder"));
  EXPECT_EQ(unknown.out + no_folder.out, "");
}

TEST_F(Watch, NamesTheLineOfTheLoopThatDoesNotTrain) {
  const std::vector<std::string> job = python(training("0", "time.sleep(15e-3)  # statistics"));
  if (job.empty()) GTEST_SKIP() << "there is no /usr/bin/python3";
  const Ended ended = watch(job);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("host bound (Python)"), HasSubstr("job.py:25 (main)")));
}

TEST_F(Watch, AJobThatComputesHasNoFinding) {
  const std::vector<std::string> job = python(training("0"));
  if (job.empty()) GTEST_SKIP() << "there is no /usr/bin/python3";
  const Ended ended = watch(job, {"--json"});
  EXPECT_THAT(ended.err, AllOf(Not(HasSubstr("input_bound")), Not(HasSubstr("host_bound"))));
}

TEST_F(Watch, StopEndsAJobThatDoesNotEnd) {
  const std::vector<std::string> job = without_end("1");
  if (job.empty()) GTEST_SKIP() << "there is no /usr/bin/python3";
  const Ended ended = watch(job, {"--for", "1s", "--stop"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("run: ./results/job/"));
}

class TuneJob : public Watch {};

TEST_F(TuneJob, MeasuresWhatHelpsAndNamesTheLine) {
  // With workers the stub loads no faster.
  const std::vector<std::string> job = without_end("4");
  if (job.empty()) GTEST_SKIP() << "there is no /usr/bin/python3";
  std::vector<std::string> options{"tune", "--budget", "20", "--steps", "40", "--"};
  options.insert(options.end(), job.begin(), job.end());
  const Ended ended = run_program(options, path(), stubs());
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("tune: first the job as it is"));
  EXPECT_THAT(ended.out, AllOf(HasSubstr("input bound (no workers)"), HasSubstr("workers="), HasSubstr("not tried:"),
                               HasSubstr("as it is: "), Not(HasSubstr(" helps  ")), Not(HasSubstr("begins"))));
}

TEST_F(TuneJob, TheTwoBestAreTriedTogether) {
  // The script stands for a job in which each of two remedies saves 8 ms.
  const std::string extra =
      "time.sleep(20e-3 - 8e-3 * sum(name in os.environ.get('GPUBENCH_AGENT_REMEDIES', '') "
      "for name in ('allocator', 'workers')))";
  std::vector<std::string> job = python(training("0", extra));
  if (job.empty()) GTEST_SKIP() << "there is no /usr/bin/python3";
  job.emplace_back("1000000");
  std::vector<std::string> options{"tune",     "--budget",  "300",      "--steps", "8",
                                   "--remedy", "allocator", "--remedy", "workers", "--"};
  options.insert(options.end(), job.begin(), job.end());
  const Ended ended = run_program(options, path(), stubs());
  EXPECT_THAT(ended.out, testing::AnyOf(HasSubstr("allocator,workers="), HasSubstr(",allocator ")));
  EXPECT_THAT(ended.out, Not(HasSubstr("did not apply")));
}

TEST_F(Watch, WhatTheJobLeavesBehindIsWaitedForUntilASignal) {
  StartedProgram program({"watch", "--", "/bin/sh", "-c", "echo out; sleep 60 >/dev/null 2>&1 & exit 4"}, path());
  ASSERT_TRUE(program.wait_for("out"));
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const Ended ended = program.signal_until_end(SIGTERM);
  EXPECT_EQ(ended.status, 4);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(Watch, JsonIsJsonWithoutAVerdictToo) {
  EXPECT_THAT(watch({"/bin/sh", "-c", "exit 3"}, {"--json"}).err,
              AllOf(HasSubstr("{\"status\":\"cannot_tell\""), HasSubstr("\"why_none\":\"no Python process")));
}

TEST_F(Watch, TheVerdictBeginsALineBehindAProgressBar) {
  const std::vector<std::string> job = {"/bin/sh", "-c", "printf '50%% |###  |' >&2; exit 3"};
  EXPECT_THAT(watch(job, {"--json"}).err, HasSubstr("###  |\n{\"status\""));
  EXPECT_THAT(watch(job).err, HasSubstr("###  |\ngpubench: watch: "));
}

TEST_F(Watch, AJobWithoutDashesIsToldWhereTheyStand) {
  EXPECT_THAT(run_program({"watch", "python3", "train.py"}, path()).err,
              HasSubstr("gpubench watch -- python train.py"));
  EXPECT_THAT(run_program({"tune", "--dry-run", "python3", "train.py"}, path()).err,
              HasSubstr("gpubench tune -- python train.py"));
}

TEST_F(TuneJob, RemediesThatAreNotThereAreNamedBeforeTheJobRuns) {
  const Ended ended = run_program({"tune", "--remedy", "worker", "--", "/bin/sh", "-c", "touch started"}, path());
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("did you mean 'workers'"), HasSubstr("steps_per_execution")));
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(path()) / "started"));
}

TEST_F(TuneJob, AJobThatCannotBeStartedOrFailsIsSaid) {
  EXPECT_THAT(run_program({"tune", "--", "no_such_program"}, path()).err, HasSubstr("no_such_program"));
  EXPECT_THAT(run_program({"tune", "--", "/bin/sh", "-c", "exit 5"}, path()).out, HasSubstr("ended with status 5"));
}

TEST_F(TuneJob, NumbersThatAreNoneAreToldWhatIsPossible) {
  EXPECT_THAT(run_program({"tune", "--steps", "8.5", "--", "true"}, path()).err,
              HasSubstr("'8.5' is no whole number from 8 to 1000000"));
  EXPECT_THAT(run_program({"run", "--repeat", "many", "x.lua"}, path()).err,
              HasSubstr("'many' is no whole number from 1 to 1000"));
  EXPECT_THAT(run_program({"tune", "--budget", "-1", "--", "true"}, path()).err,
              HasSubstr("'-1' is not a positive number"));
}

TEST_F(TuneJob, AJobWithoutStepsHasNothingToTune) {
  const Ended ended = run_program({"tune", "--budget", "10", "--", "/bin/sh", "-c", "exit 3"}, path());
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.out, HasSubstr("no Python process has loaded the agent"));
}

}  // namespace
}  // namespace gpubench
