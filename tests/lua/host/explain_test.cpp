// gpubench explain, and the verdict of rows, on rows whose figures are given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// A run of a machine that nothing disturbed: point 1 waits for launches, point 2 is at its peak, point 3 measured no
/// steps. Its program died, so that it has no report yet.
class Explain : public FolderTest {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = std::filesystem::path("results") / "given" / "20260101T000000Z-x";
    std::filesystem::create_directories(std::filesystem::path(path()) / folder);
    write((folder / "run.json").string(),
          R"({"experiment": "given", "title": "Steps that are given", "run": "20260101T000000Z-x", "status": "running",
              "axis_names": ["n"]})");
    write((folder / "results.csv").string(),
          "experiment,point,process,n,status,device,execution,precision,replicas,batch_size,examples_per_s,"
          "compute_share,copy_share,input_wait_share,launch_share,host_share,other_share,mfu,flops_per_step,"
          "fixed_flops_per_step,figure_per_s\r\n"
          "given,1,0,10,ok,gpu:0,graph,mixed_bfloat16,1,32,3200.0,0.35,0.01,0.02,0.6,0.01,0.01,0.28,100,50,\r\n"
          "given,2,0,20,ok,gpu:0,graph,mixed_bfloat16,1,32,3200.0,0.94,0.01,0.02,0.01,0.01,0.01,0.752,100,50,\r\n"
          "given,3,0,30,ok,,,,,,,,,,,,,,,,1.0\r\n"
          "given,4,0,40,out_of_memory,,,,,,,,,,,,,,,,\r\n");
  }
  Ended explain(std::vector<std::string> options) const {
    options.insert(options.begin(), {"explain", "given"});
    return run_program(options, path());
  }
};

TEST_F(Explain, RowsOfARunGetAVerdictWhenTheyHaveSteps) {
  const Ended ended = run(R"(local gb = require "gpubench"
gb.experiment { name = "made", title = "t", axes = { gb.axis("n", { 1, 2 }) }, run = function(point)
  if point.n == 2 then return { figure_per_s = 1.0 } end
  return { device = "gpu:0", batch_size = 32, examples_per_s = 3200.0, launch_share = 0.6, compute_share = 0.4 }
end })");
  ASSERT_EQ(ended.status, 0) << ended.err;
  const std::string rows = run_program({"show", "made", "--format", "json"}, path()).out;
  // Other programs may have disturbed the first.
  EXPECT_THAT(rows, ContainsRegex("\"verdict\": \"(launch bound: 60|cannot tell: the row is)"));
  EXPECT_EQ(rows.find("\"verdict\": "), rows.rfind("\"verdict\": "));
}

TEST_F(Explain, ShowsAllVerdictsAndThePointWithMostToGain) {
  const Ended ended = explain({});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("given: Steps that are given"), HasSubstr("compute bound: 75 %"),
                               HasSubstr("--point N explains another:"), HasSubstr("point 1: n=10"),
                               HasSubstr("(changes what is computed); at most 7.15 times as fast"),
                               HasSubstr("measured step"), HasSubstr("dataset:batch(<LARGER BATCH>)")));
  EXPECT_THAT(ended.out, Not(HasSubstr("point 2: n=20\n")));
}

TEST_F(Explain, OfOnePointInTheWordsOfOthers) {
  EXPECT_THAT(explain({"--point", "1", "--words", "pytorch"}).out,
              AllOf(HasSubstr("DataLoader(<DATASET>, batch_size=<LARGER BATCH>)"), Not(HasSubstr("point 2"))));
  EXPECT_THAT(explain({"--point", "2"}).out, HasSubstr("ideal arithmetic"));
  EXPECT_THAT(explain({"--words", "latin"}).err, HasSubstr("latin"));
}

TEST_F(Explain, NamesWhatCannotBeExplained) {
  const Ended missing = explain({"--point", "9"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("there is no point 9 in the run"));
  EXPECT_THAT(missing.err, HasSubstr("it has the points 1 to 4"));
  EXPECT_THAT(explain({"--point", "3"}).err, HasSubstr("no row of point 3 of the run"));
  EXPECT_THAT(explain({"--point", "0"}).err, HasSubstr("--point"));
}

TEST_F(Explain, AsJson) {
  EXPECT_THAT(explain({"--json"}).out,
              AllOf(HasSubstr("\"headline\": \"launch bound (batch too small): 60 % of the step\""),
                    HasSubstr("\"name\": \"larger_batch\""), HasSubstr("\"waterfall\": ["),
                    HasSubstr("\"at_most_times_as_fast\": 7.14285714")));
}

TEST_F(Explain, TheReportHasTheSame) {
  ASSERT_EQ(run_program({"finish", "given"}, path()).status, 0);
  const std::string page = read(find("report.html").string());
  EXPECT_THAT(page, AllOf(HasSubstr("Where the time goes:"), HasSubstr("1 point: launch bound (batch too small)"),
                          HasSubstr("kernels below their peak"), HasSubstr("id=\"explained\"")));
}

/// A step of PyTorch's profiler in which the host launches a kernel of 100 us.
class ExplainByRule : public FolderTest {
 protected:
  void SetUp() override {
    write("t.json", R"({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "ProfilerStep#7", "pid": 1, "tid": 1, "ts": 1000, "dur": 300, "args": {}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1010, "dur": 10,
 "args": {"correlation": 3}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1250, "dur": 100,
 "args": {"device": 0, "stream": 7, "correlation": 3}}]})");
  }
  Ended explain(std::vector<std::string> options) const {
    options.insert(options.begin(), {"explain", "t.json", "--rule"});
    return run_program(options, path());
  }
};

TEST_F(ExplainByRule, PrintsTheTimesAndWhoseRuleItIs) {
  const Ended ended = explain({"kineto"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("PyTorch's profiler plugin for TensorBoard"), HasSubstr("t.json\n"),
                               ContainsRegex("us +Kernel +Memcpy +Memset +Communication +Runtime +DataLoader"),
                               ContainsRegex("\n7 +100 +0 +0 +0 +10 +0 +0 +240 +350\n")));
  EXPECT_THAT(explain({"hta"}).out, AllOf(HasSubstr("Holistic Trace Analysis"), ContainsRegex("all devices +0 +100")));
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(path()) / "results"));
}

TEST_F(ExplainByRule, AsJson) {
  EXPECT_THAT(explain({"tracelens", "--json"}).out,
              AllOf(HasSubstr("\"rule\": \"tracelens\""), HasSubstr("\"unit\": \"us\""),
                    HasSubstr("\"name\": \"all devices\""), HasSubstr("\"computation_time\": 100.0")));
}

TEST_F(ExplainByRule, NamesWhatIsNotPossible) {
  const Ended step = explain({"hta", "--step", "x"});
  EXPECT_EQ(step.status, 2);
  EXPECT_THAT(step.err, HasSubstr("--rule prints the figures of another tool, to which --step does not apply"));
  EXPECT_THAT(explain({"nsight"}).err, HasSubstr("nsight not in {kineto,hta,tracelens}"));
  EXPECT_THAT(run_program({"explain", "missing", "--rule", "hta"}, path()).err, HasSubstr("missing: cannot be opened"));
}

}  // namespace
}  // namespace gpubench
