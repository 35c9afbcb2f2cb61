#include "core/run/live_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "core/results/append_file.h"
#include "tests/core/group/thread_group.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LiveRunTest : public ::testing::Test {
 protected:
  RunPlan plan() const {
    return {.experiment = "e", .title = "t", .axes = {"n"}, .extra_columns = {}, .out = out_.path()};
  }
  /// Of a point that is measured in 9 rounds: its axis, and what it took.
  static PointCall call(std::int64_t n, double work_s) {
    return PointCall({{{{"n", n}, {"work_s", work_s}}, {work_s}}}, {{"n", n}});
  }
  static void measure(LiveRun& run, int rounds) {
    for (int round = 1; round <= rounds; ++round) {
      for (const std::int64_t n : {1, 2}) run.take(call(n, round), n, 9, round);
    }
  }
  static std::string file(const LiveRun& run, const char* name) {
    return read_file(std::filesystem::path(run.directory()) / name);
  }

  TemporaryDirectory out_;
  UnfinishedRuns unfinished_;
};

TEST_F(LiveRunTest, RowsOfTheFirstRoundAreOnDiskUntilTheMediansReplaceThem) {
  LiveRun run(plan(), {"work_s"}, {}, {}, {}, nullptr, unfinished_);
  measure(run, 1);
  EXPECT_THAT(file(run, "results.csv"), HasSubstr("the times of 1 of 9 rounds count"));
  EXPECT_THAT(file(run, "rounds.csv"), HasSubstr("2,0,1,1,work_s,1.0\r\n"));
  for (int round = 2; round <= 7; ++round) {
    for (const std::int64_t n : {1, 2}) {
      const PointRounds& rounds = run.take(call(n, round), n, 9, 7);
      EXPECT_EQ(rounds.calm(), round);
      EXPECT_TRUE(rounds.failed().empty());
    }
  }
  EXPECT_THAT(file(run, "samples.csv"), HasSubstr("2,0,7,1,7\r\n"));
  const std::vector<FinishedPoint> finished = run.finish_points(9, {{1}, {2, "too long"}, {3}});
  EXPECT_EQ(finished[0].rows.at(0).get("work_s"), Cell(4.0));
  EXPECT_THAT(to_text(finished[1].rows.at(0).get("quality")), HasSubstr("too long"));
  EXPECT_TRUE(finished[2].rows.empty()) << "it was not measured";
  EXPECT_THAT(file(run, "results.csv"), Not(HasSubstr("rounds count")));
  const std::vector<JudgedRow> judged = run.judged_rows();
  ASSERT_EQ(judged.size(), 2U);
  EXPECT_EQ(judged[1].row.get("work_high_s"), Cell(7.0));
  EXPECT_EQ(judged[1].rounds.at(4).row.get("work_s"), Cell(5.0));
}

TEST_F(LiveRunTest, AFailureIsTheRowOfItsPoint) {
  LiveRun run(plan(), {}, {}, {}, {}, nullptr, unfinished_);
  measure(run, 2);
  const PointCall broken({{{{"n", std::int64_t{1}}, {"status", std::string("error")}}}}, {});
  EXPECT_EQ(to_text(run.take(broken, 1, 9, 3).failed().at(0).get("detail")), "in round 3: error");
  EXPECT_EQ(to_text(run.finish_points(9, {{1}, {2}})[0].rows.at(0).get("detail")), "in round 3: error");
  EXPECT_THAT(file(run, "results.csv"), HasSubstr("in round 3: error"));
  EXPECT_TRUE(run.judged_rows()[0].rounds.empty());
}

TEST_F(LiveRunTest, OtherProcessesHaveRowsAndNoFiles) {
  Threads processes(2);
  const ThreadGroup group(processes, 1);
  LiveRun run(plan(), {}, {}, {}, {}, &group, unfinished_);
  measure(run, 7);
  run.finish_points(9, {{1}, {2}});
  EXPECT_EQ(run.directory(), "");
  EXPECT_TRUE(std::filesystem::is_empty(out_.path()));
  ASSERT_EQ(run.rows().size(), 2U);
  EXPECT_EQ(run.rows()[1].get("work_s"), Cell(4.0));
  EXPECT_EQ(to_text(run.rows()[1].get("experiment")), "e");
}

TEST_F(LiveRunTest, RowsOfProcessesAreJudgedByTheirMeans) {
  Threads processes(2);
  ThreadGroup first(processes, 0), second(processes, 1);
  LiveRun run(plan(), {}, {}, {}, {}, &first, unfinished_);
  for (int round = 1; round <= 2; ++round) {
    PointCall mine = call(1, 1.0 * round), others = call(1, 3.0 * round);
    std::jthread process([&] { others.agree(second, "ok", {}); });
    mine.agree(first, "ok", {});
    run.take(mine, 1, 2, round);
  }
  run.finish_points(2, {{1}});
  EXPECT_EQ(run.rows().size(), 2U);
  const std::vector<JudgedRow> judged = run.judged_rows();
  ASSERT_EQ(judged.size(), 1U);
  EXPECT_EQ(judged[0].row.get("work_s"), Cell(3.0));
  EXPECT_EQ(judged[0].rounds.at(0).row.get("work_s"), Cell(2.0));
  EXPECT_EQ(judged[0].rounds.at(1).row.get("work_s"), Cell(4.0));
}

}  // namespace
}  // namespace gpubench
