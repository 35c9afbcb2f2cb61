#include "core/history/history.h"

#include <csignal>
#include <cstdio>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/history/store_run.h"
#include "tests/core/history/nights.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::date_of;
using support::near;
using support::run_of;
using support::runs_with;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class HistoryTest : public TemporaryFolder {
 protected:
  std::filesystem::path path() const { return file("history.db"); }
};

std::vector<double> values_in(const RunHistory& history, const std::string& metric) {
  std::vector<double> values;
  history.for_each_series(history.series(), [&](const HistorySeries& series, const std::vector<HistoryPoint>& points) {
    if (series.key.metric != metric) return;
    for (const HistoryPoint& point : points) values.push_back(point.value);
  });
  return values;
}

TEST_F(HistoryTest, ARunIsAppendedOnce) {
  {
    RunHistory history(path());
    EXPECT_TRUE(history.append(run_of({})));
    EXPECT_FALSE(history.append(run_of({})));
  }
  const RunHistory history(path());
  EXPECT_THAT(history.runs(), SizeIs(1));
  EXPECT_TRUE(history.has_run("a", "matmul", run_of({}).directory.filename()));
  EXPECT_THAT(history.experiments(), ElementsAre("matmul"));
  ASSERT_THAT(history.series("matmul"), SizeIs(3));
  const HistorySeries series = history.series()[0];
  EXPECT_EQ(series.key.metric, "flops_per_s");
  EXPECT_EQ(series.column.unit, Unit::flops_per_second);
  EXPECT_EQ(series.column.better, Better::higher);
  EXPECT_EQ(series.column.kind, Kind::time);
  EXPECT_TRUE(series.watched);
  EXPECT_THAT(history.environment(history.runs()[0].environment), HasSubstr("580.1"));
}

TEST_F(HistoryTest, ARunThatGoesOnIsRefused) {
  auto run = run_of({});
  run.info.set("status", "running");
  RunHistory history(path());
  EXPECT_ERROR(HasSubstr("still goes on"), history.append(run));
  EXPECT_THAT(history.runs(), SizeIs(0));
}

TEST_F(HistoryTest, RunsStandInTheOrderInWhichTheyCameWhateverTheClockSays) {
  RunHistory history(path());
  history.append(run_of({.step_time_s = 1, .started = date_of(100)}));
  history.append(run_of({.step_time_s = 2, .started = date_of(101)}));
  history.append(run_of({.step_time_s = 3, .started = "1970-01-01T00:00:07Z"}));  // the clock was set back
  history.append(run_of({.step_time_s = 4, .started = date_of(103)}));
  EXPECT_THAT(values_in(history, "step_time_s"), ElementsAre(1, 2, 3, 4));
}

TEST_F(HistoryTest, TwoProcessesWriteAtOnce) {
  constexpr int runs_each = 20;
  std::vector<pid_t> processes;
  for (const char* const host : {"a", "b", "c"}) {
    const pid_t process = ::fork();
    if (process == 0) {
      try {
        // Opened by all at once too: the schema is made once.
        RunHistory history(path());
        for (const auto& run : runs_with(near(0.01, runs_each), {.host = host})) history.append(run);
        ::_exit(0);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(1);
      }
    }
    processes.push_back(process);
  }
  for (const pid_t process : processes) {
    int status = 0;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const RunHistory history(path());
  EXPECT_THAT(history.runs(), SizeIs(3 * runs_each));
  std::int64_t before = 0;
  for (const HistoryRun& run : history.runs()) {
    EXPECT_EQ(run.sequence, before + 1);
    before = run.sequence;
  }
}

TEST_F(HistoryTest, AWriterThatDiesLeavesWholeRunsOnly) {
  const pid_t process = ::fork();
  if (process == 0) {
    RunHistory history(path());
    for (const auto& run : runs_with(near(0.01, 5))) history.append(run);
    const Transaction unfinished(history.database());
    store_run(history.database(), values_of(run_of({.started = date_of(50)})), 99);
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(process, nullptr, 0);
  RunHistory history(path());
  EXPECT_THAT(history.runs(), SizeIs(5));
  EXPECT_TRUE(history.append(run_of({.started = date_of(50)})));
}

}  // namespace
}  // namespace gpubench
