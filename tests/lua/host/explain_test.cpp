// gpubench explain, and the verdict of rows, on rows whose figures are given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Point 1 waits for launches, point 2 is at its peak, point 3 measures no steps.
constexpr const char* script = R"(local gb = require "gpubench"
gb.experiment {
  name = "given", title = "Steps that are given", axes = { gb.axis("n", { 1, 2, 3 }) },
  run = function(point)
    if point.n == 3 then return { figure_per_s = 1.0 } end
    local launching = point.n == 1 and 0.6 or 0.01
    return {
      device = "gpu:0", execution = "graph", precision = "mixed_bfloat16", replicas = 1, batch_size = 32,
      examples_per_s = 3200.0, compute_share = 0.95 - launching, launch_share = launching, copy_share = 0.01,
      input_wait_share = 0.02, host_share = 0.01, other_share = 0.01, mfu = (0.95 - launching) * 0.8,
    }
  end,
})";

class Explain : public FolderTest {
 protected:
  void SetUp() override {
    const Ended ended = run(script);
    ASSERT_EQ(ended.status, 0) << ended.err;
    printed_ = ended.out;
  }
  Ended explain(std::vector<std::string> options) const {
    options.insert(options.begin(), {"explain", "given"});
    return run_program(options, path());
  }
  std::string printed_;
};

TEST_F(Explain, EveryRowWithStepsHasAVerdict) {
  EXPECT_THAT(printed_, HasSubstr("launch bound (batch too small): 60 % of the step"));
  const std::string rows = run_program({"show", "given", "--format", "csv"}, path()).out;
  EXPECT_THAT(rows, AllOf(HasSubstr("launch bound (batch too small): 60 % of the step"),
                          HasSubstr("compute bound: 75 % of the best rate")));
}

TEST_F(Explain, ShowsAllVerdictsAndThePointWithMostToGain) {
  const Ended ended = explain({});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("given: Steps that are given"), HasSubstr("compute bound: 75 %"),
                               HasSubstr("--point N explains another:"), HasSubstr("point 1: n=1"),
                               HasSubstr("at most: 2.50 times as fast"), HasSubstr("measured step"),
                               HasSubstr("dataset:batch(<LARGER BATCH>)")));
  EXPECT_THAT(ended.out, Not(HasSubstr("point 2: n=2\n")));
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
  EXPECT_THAT(missing.err, HasSubstr("it has the points 1 to 3"));
  EXPECT_THAT(explain({"--point", "3"}).err, HasSubstr("no row of point 3 of the run"));
  EXPECT_THAT(explain({"--point", "0"}).err, HasSubstr("--point"));
}

TEST_F(Explain, AsJson) {
  EXPECT_THAT(explain({"--json"}).out,
              AllOf(HasSubstr("\"headline\": \"launch bound (batch too small): 60 % of the step\""),
                    HasSubstr("\"name\": \"larger_batch\""), HasSubstr("\"waterfall\": ["),
                    HasSubstr("\"at_most_times_as_fast\": 2.5")));
}

TEST_F(Explain, TheReportHasTheSame) {
  const std::string page = read(find("report.html").string());
  EXPECT_THAT(page, AllOf(HasSubstr("Where the time goes:"), HasSubstr("1 point: launch bound (batch too small)"),
                          HasSubstr("kernels below their peak"), HasSubstr("id=\"explained\"")));
}

}  // namespace
}  // namespace gpubench
