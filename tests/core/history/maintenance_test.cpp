#include "core/history/maintenance.h"

#include <gmock/gmock.h>

#include "core/codec/output_file.h"
#include "core/results/csv.h"
#include "core/results/run_directory.h"
#include "tests/core/history/nights.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::date_of;
using support::run_of;
using support::runs_with;
using support::write_run;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class MaintenanceTest : public TemporaryFolder {
 protected:
  std::filesystem::path out() const { return file("out"); }
  RunHistory history() const {
    std::filesystem::create_directories(results_root(out()));
    return RunHistory(history_file(out()));
  }
  static std::vector<std::string> dates(const RunHistory& history) {
    std::vector<std::string> all;
    for (const HistoryRun& run : history.runs()) all.push_back(run.started.substr(0, 10));
    return all;
  }
  static std::chrono::system_clock::time_point day(int number) {
    return std::chrono::sys_days(std::chrono::year(2026) / std::chrono::January / 1) + std::chrono::days(number) +
           std::chrono::hours(3);
  }
};

TEST_F(MaintenanceTest, IsRebuiltFromRuns) {
  for (const int night : {2, 0, 1}) write_run({.started = date_of(night)}, out());
  std::filesystem::create_directories(results_root(out()) / "matmul/20260101T000000Z-cut");
  replace_file(results_root(out()) / "matmul/20260101T000000Z-cut/results.csv", "experiment\r\n");
  RunHistory history = this->history();
  const Rebuilt rebuilt = rebuild(history, out());
  EXPECT_EQ(rebuilt.stored, 3u);
  EXPECT_THAT(rebuilt.left_out, ElementsAre(HasSubstr("20260101T000000Z-cut: ")));
  EXPECT_THAT(dates(history), ElementsAre("2026-01-01", "2026-01-02", "2026-01-03"));
  EXPECT_THAT(history.series(), SizeIs(3));
}

TEST_F(MaintenanceTest, RebuildingKeepsOrderReportsAndRunsWithoutFolders) {
  RunHistory history = this->history();
  // Its clock was set back in the middle.
  for (const auto& started : {date_of(5), std::string("1970-01-01T00:00:00Z"), date_of(7)}) {
    write_run({.started = started}, out());
    history.append(run_of({.started = started}, out()));
  }
  history.append(run_of({.started = date_of(8)}, out()));  // its folder is gone
  write_run({.started = date_of(6)}, out());               // it was never appended
  history.add_change({.series = 1, .run = "r", .state = ChangeState::resolved, .note = "kept"});
  const Rebuilt rebuilt = rebuild(history, out());
  EXPECT_EQ(rebuilt.stored, 4u);
  EXPECT_EQ(rebuilt.kept, 1u);
  EXPECT_THAT(dates(history), ElementsAre("2026-01-06", "1970-01-01", "2026-01-07", "2026-01-08", "2026-01-09"));
  EXPECT_EQ(history.changes().at(0).note, "kept");
}

TEST_F(MaintenanceTest, OldRunsAreForgotten) {
  RunHistory history = this->history();
  for (const int night : {0, 10, 20, 30}) history.append(run_of({.started = date_of(night)}));
  EXPECT_EQ(prune(history, 15, day(30)), 2u);
  EXPECT_THAT(dates(history), ElementsAre("2026-01-21", "2026-01-31"));
  EXPECT_EQ(prune(history, 15, day(30)), 0u);
  EXPECT_EQ(prune(history, 0, day(90)), 2u);
  EXPECT_THAT(history.runs(), IsEmpty());
}

TEST_F(MaintenanceTest, WronglyDatedRunsGoWithTheirNeighbours) {
  RunHistory history = this->history();
  for (const auto& started :
       {date_of(0), std::string("2099-01-01T00:00:00Z"), date_of(20), std::string("1970-01-01T00:00:00Z"), date_of(30)})
    history.append(run_of({.started = started}));
  EXPECT_EQ(prune(history, 15, day(30)), 2u);
  EXPECT_THAT(dates(history), ElementsAre("2026-01-21", "1970-01-01", "2026-01-31"));
}

TEST_F(MaintenanceTest, IsExportedAsCsv) {
  RunHistory history = this->history();
  for (const auto& run : runs_with({0.01, 0.02}, {.suite = "=cmd"})) history.append(run);
  history.append(run_of({.experiment = "other"}));
  std::string text;
  export_csv(history, "matmul", [&](std::string_view part) { text += part; });
  const auto lines = parse_csv(text, "history.csv");
  ASSERT_THAT(lines, SizeIs(7));
  EXPECT_EQ(lines[0][6], "metric");
  EXPECT_EQ(lines[1][6], "flops_per_s");
  EXPECT_EQ(lines[1][3], "'=cmd");
  EXPECT_EQ(lines[3][13], "0.01");
  text.clear();
  export_csv(history, "", [&](std::string_view part) { text += part; });
  EXPECT_THAT(parse_csv(text, "history.csv"), SizeIs(10));
}

}  // namespace
}  // namespace gpubench
