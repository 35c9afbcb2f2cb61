#include "core/history/merge.h"

#include <gmock/gmock.h>

#include "core/history/judge.h"
#include "core/history/news.h"
#include "tests/core/history/nights.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::date_of;
using support::merge;
using support::near;
using support::run_of;
using support::runs_with;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class MergeTest : public TemporaryFolder {
 protected:
  RunHistory own() const { return RunHistory(file("own.db")); }
  /// A history with a run of `host` on each of the days.
  std::filesystem::path nights_of(const std::string& host, const std::vector<int>& days) const {
    RunHistory history(file(host + ".db"));
    for (const int day : days) history.append(run_of({.started = date_of(day), .host = host}));
    return file(host + ".db");
  }
  /// "03-a": day and host, in the order of the runs.
  static std::vector<std::string> order(const RunHistory& history) {
    std::vector<std::string> all;
    for (const HistoryRun& run : history.runs()) all.push_back(run.started.substr(8, 2) + "-" + run.host);
    return all;
  }
};

TEST_F(MergeTest, SeveralFilesAreInOneOrderAsIfMergedOneByOne) {
  const std::vector files{nights_of("a", {0, 2, 9}), nights_of("b", {4, 1, 6}), nights_of("c", {3})};
  RunHistory here = own();
  here.append(run_of({.started = date_of(5), .host = "own"}));
  for (const MergedFile& one : merge(here, files)) EXPECT_EQ(one.fault, "");
  EXPECT_THAT(order(here), ElementsAre("01-a", "03-a", "04-c", "05-b", "02-b", "06-own", "07-b", "10-a"));
  RunHistory one_by_one(file("one_by_one.db"));
  one_by_one.append(run_of({.started = date_of(5), .host = "own"}));
  for (const auto& other : files) merge(one_by_one, other);
  EXPECT_EQ(order(one_by_one), order(here));
  EXPECT_THAT(judge(here), IsEmpty());
}

TEST_F(MergeTest, AFileThatCannotBeReadKeepsNoOtherOut) {
  write("text.db", std::string(200, 'x'));
  write("empty.db", "");
  const std::vector files{file("text.db"),     nights_of("a", {0, 1}), file("empty.db"), file("none.db"),
                          nights_of("b", {0}), file("own.db"),         file("a.db")};
  RunHistory here = own();
  const std::vector<MergedFile> merged = merge(here, files);
  ASSERT_THAT(merged, SizeIs(7));
  EXPECT_THAT(merged[0].fault, HasSubstr("no history"));
  EXPECT_EQ(merged[1].added, 2u);
  EXPECT_THAT(merged[2].fault, HasSubstr("is empty"));
  EXPECT_THAT(merged[3].fault, HasSubstr("there is no file"));
  EXPECT_EQ(merged[4].added, 1u);
  EXPECT_THAT(merged[5].fault, HasSubstr("this history itself"));
  EXPECT_EQ(merged[6].added, 0u) << "again";
  EXPECT_EQ(merged[6].fault, "");
  EXPECT_THAT(here.runs(), SizeIs(3));
}

TEST_F(MergeTest, LaterNightsOfAMachineThatIsKnownAreAdded) {
  RunHistory here = own();
  merge(here, nights_of("a", {0, 1}));
  merge(here, nights_of("b", {1}));
  const std::filesystem::path a = nights_of("a", {2, 3});
  EXPECT_EQ(merge(here, a), 2u);
  EXPECT_THAT(order(here), ElementsAre("01-a", "02-a", "02-b", "03-a", "04-a"));
  EXPECT_THAT(here.series(), SizeIs(6));
  here.for_each_series(here.series(), [&](const HistorySeries& series, const auto& points) {
    EXPECT_THAT(points, SizeIs(series.key.host == "a" ? 4 : 1));
  });
}

TEST_F(MergeTest, ACardTakesItsSeriesAlongAlsoOfOtherExperiments) {
  RunHistory there(file("there.db"));
  for (const char* const experiment : {"conv", "matmul"})
    there.append(run_of({.started = date_of(0), .experiment = experiment}));
  there.database().execute("UPDATE series SET slot = 'gpu:7'");
  RunHistory here = own();
  merge(here, file("there.db"));
  here.append(run_of({.started = date_of(1), .experiment = "attention"}));
  for (const HistorySeries& series : here.series()) EXPECT_EQ(series.key.slot, "gpu:0") << series.key.experiment;
}

TEST_F(MergeTest, MachinesAreMerged) {
  RunHistory here = own();
  RunHistory there(file("there.db"));
  for (const auto& run : runs_with(near(0.01, 20), {.host = "a"})) here.append(run);
  for (const auto& run : runs_with(near(0.01, 20), {.host = "b"})) there.append(run);
  for (const auto& run : runs_with(near(0.011, 20), {.host = "b"}, 20)) there.append(run);
  there.append(run_of({.started = date_of(0), .host = "a"}));  // both have it
  ASSERT_THAT(judge(there), SizeIs(2));
  EXPECT_EQ(merge(here, file("there.db")), 40u);
  EXPECT_THAT(here.series(), SizeIs(6));
  ASSERT_THAT(here.changes(), SizeIs(2));
  EXPECT_EQ(here.changes()[0].run, there.changes()[0].run);
  EXPECT_THAT(judge(here), IsEmpty()) << "it was reported there";
  EXPECT_EQ(merge(here, file("there.db")), 0u);
  EXPECT_THAT(here.changes(), SizeIs(2));
}

TEST_F(MergeTest, WhatWasClosedOnAMachineIsClosedAfterMergingAgain) {
  RunHistory here = own();
  RunHistory there(file("there.db"));
  for (const auto& run : runs_with(near(0.01, 20))) there.append(run);
  for (const auto& run : runs_with(near(0.011, 20), {}, 20)) there.append(run);
  ASSERT_THAT(judge(there), SizeIs(2));
  merge(here, file("there.db"));
  here.close_change(here.changes()[0].id, ChangeState::resolved, date_of(50), "here");
  there.close_change(there.changes()[1].id, ChangeState::resolved, date_of(50), "there");
  merge(here, file("there.db"));
  ASSERT_THAT(here.changes(), SizeIs(2));
  EXPECT_EQ(here.changes()[0].note, "here") << "it is open there";
  EXPECT_EQ(here.changes()[1].state, ChangeState::resolved);
  EXPECT_EQ(here.changes()[1].note, "there");
}

TEST_F(MergeTest, WhatAMachineJudgedBeforeItWasMergedIsNoNews) {
  RunHistory here = own();
  RunHistory there(file("there.db"));
  for (const auto& run : runs_with(near(0.01, 20))) there.append(run);
  for (const auto& run : runs_with(near(0.011, 20), {}, 20)) there.append(run);
  ASSERT_THAT(judge(there), SizeIs(2));
  there.database().execute("DELETE FROM changes");
  merge(here, file("there.db"));
  EXPECT_THAT(judge(here), IsEmpty());
}

TEST_F(MergeTest, WhatCannotBeMerged) {
  RunHistory here = own();
  EXPECT_ERROR(HasSubstr("this history itself"), merge(here, file("own.db")));
  EXPECT_ERROR(HasSubstr("there is no file"), merge(here, file("none.db")));
  EXPECT_FALSE(std::filesystem::exists(file("none.db")));
  write("text.db", std::string(200, 'x'));
  EXPECT_ERROR(HasSubstr("no history"), merge(here, file("text.db")));
}

}  // namespace
}  // namespace gpubench
