// gpubench fleet: its options, files that cannot be read, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/history/history.h"
#include "core/history/judge.h"
#include "core/results/info.h"
#include "tests/core/history/nights.h"
#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class FleetCommand : public FolderTest {
 protected:
  Ended fleet(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), "fleet");
    return run_program(options, path());
  }
  /// One night of six machines, of which node0 needs `time` seconds.
  void measure(const std::string& history, double time, int machines = 6) const {
    RunHistory to(file(history));
    for (int i = 0; i < machines; ++i)
      to.append(support::run_of({.step_time_s = i == 0 ? time : 0.01 + 1e-5 * i, .host = "node" + std::to_string(i)}));
  }
};

TEST_F(FleetCommand, EndsWithWhatItFound) {
  measure("equal.db", 0.01);
  measure("slow.db", 1);
  measure("few.db", 1, 3);
  const Ended equal = fleet({"equal.db"});
  EXPECT_EQ(equal.status, 0) << equal.err;
  EXPECT_THAT(equal.out, StartsWith("No machine of 6 stands out in the night of 2026-01-01\n"));
  const Ended slow = fleet({"slow.db"});
  EXPECT_EQ(slow.status, 1) << slow.out << slow.err;
  EXPECT_THAT(slow.out, AllOf(StartsWith("1 of 6 machines stands out in the night of 2026-01-01: node0\n"),
                              HasSubstr("test it again: measure suite night on node0 once more")));
  const Ended few = fleet({"few.db"});
  EXPECT_EQ(few.status, 3);
  EXPECT_THAT(few.out, HasSubstr("each has 2 siblings, and needs 3"));
}

TEST_F(FleetCommand, TheHistoryOfTheOutFolderIsTheDefault) {
  EXPECT_EQ(fleet().status, 2);
  EXPECT_THAT(fleet().err,
              AllOf(HasSubstr("there is no history './results/history.db'"), HasSubstr("gpubench nightly")));
  std::filesystem::create_directories(file("results"));
  measure("results/history.db", 0.01);
  EXPECT_EQ(fleet().status, 0);
  EXPECT_EQ(fleet({"."}).status, 0) << "a folder stands for its history";
}

TEST_F(FleetCommand, FilesThatCannotBeReadAreNamedAndTheOthersAreRead) {
  measure("good.db", 1);
  measure("newer.db", 1);
  Database(file("newer.db"), 1).execute("PRAGMA user_version = 99");
  Database(file("foreign.db"), 1).execute("CREATE TABLE t(a)");
  write("empty.db", "");
  write("damaged.db", "no database");
  const Ended mixed = fleet({"empty.db", "good.db", "newer.db", "foreign.db", "damaged.db", "none.db"});
  EXPECT_EQ(mixed.status, 2);
  EXPECT_THAT(mixed.out, StartsWith("1 of 6 machines stands out"));
  EXPECT_THAT(mixed.err, AllOf(HasSubstr("not read: fleet: 'empty.db' is empty, and no history\n"),
                               HasSubstr("'newer.db' has schema 99, made by a newer gpubench"),
                               HasSubstr("'foreign.db' is a database of another program"),
                               HasSubstr("'damaged.db': it is damaged"), HasSubstr("there is no history 'none.db'"),
                               Not(HasSubstr("good.db"))));
  EXPECT_FALSE(std::filesystem::exists(file("none.db")));
  const Ended none = fleet({"empty.db"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.out, IsEmpty());
}

TEST_F(FleetCommand, AHistoryThatMayNotBeWrittenIsReadToo) {
  std::filesystem::create_directories(file("share"));
  measure("share/slow.db", 1);
  const auto allow = [&](std::filesystem::perms own) {
    std::filesystem::permissions(file("share/slow.db"), own & ~std::filesystem::perms::owner_exec);
    std::filesystem::permissions(file("share"), own);
  };
  allow(std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const Ended read_only = fleet({"share/slow.db"});
  allow(std::filesystem::perms::owner_all);
  EXPECT_EQ(read_only.status, 1) << read_only.err;
}

TEST_F(FleetCommand, ProgramsGetJsonAndCsvAndPeopleAPage) {
  measure("slow.db", 1);
  const Info parsed = parse_json(fleet({"slow.db", "--format", "json"}).out, "fleet --format json");
  EXPECT_EQ(parsed.text("state"), "stands_out");
  EXPECT_EQ(parsed.items("groups").at(0).items("stand_outs").at(0).text("host"), "node0");
  EXPECT_THAT(fleet({"slow.db", "--format", "csv"}).out, StartsWith("suite,model,night,host,slot,experiment"));
  const Ended page = fleet({"slow.db", "--format", "html"});
  EXPECT_EQ(page.status, 1);
  EXPECT_THAT(page.out, HasSubstr("wrote fleet.html"));
  EXPECT_THAT(read("fleet.html"), HasSubstr("<h1>1 of 6 machines stands out"));
  EXPECT_THAT(fleet({"slow.db", "--format", "csv", "--file", "all.csv"}).out, HasSubstr("wrote all.csv"));
  EXPECT_EQ(read("all.csv"), fleet({"slow.db", "--format", "csv"}).out);
}

TEST_F(FleetCommand, UnknownNamesAreListedWithThosePossible) {
  measure("slow.db", 1);
  const Ended host = fleet({"slow.db", "--host", "nod0"});
  EXPECT_EQ(host.status, 2);
  EXPECT_THAT(host.err, HasSubstr("fleet: no host 'nod0' (did you mean 'node0'?) (known: node0, node1"));
  EXPECT_THAT(fleet({"slow.db", "--suite", "nigth"}).err, HasSubstr("did you mean 'night'?"));
  EXPECT_THAT(fleet({"slow.db", "--format", "xml"}).err, HasSubstr("text,html,csv,json"));
  EXPECT_EQ(fleet({"slow.db", "--host", "node3"}).status, 0) << "of that machine";
}

// A fleet's history has thousands of lines.
TEST_F(FleetCommand, TheHistoryIsLimitedToAMachineAFigureOrOpenOnes) {
  std::filesystem::create_directories(file("results"));
  {
    RunHistory history(file("results/history.db"));
    std::vector<double> slower = support::near(0.010, 20);
    for (const double value : support::near(0.015, 10)) slower.push_back(value);
    for (const auto& run : support::runs_with(slower)) history.append(run);
    for (const auto& run : support::runs_with(support::near(0.010, 30), {.host = "b"})) history.append(run);
    judge(history);
  }
  const auto history = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "history");
    return run_program(options, path());
  };
  EXPECT_THAT(history({"matmul", "--host", "b"}).out, AllOf(HasSubstr("matmul on b"), Not(HasSubstr("matmul on a")),
                                                            HasSubstr("step_time_s"), HasSubstr("flops")));
  EXPECT_THAT(history({"matmul", "--figure", "step_time_s"}).out, Not(HasSubstr("flops")));
  EXPECT_THAT(history({"matmul", "--state", "open"}).out,
              AllOf(HasSubstr("matmul on a"), Not(HasSubstr("matmul on b"))));
  EXPECT_THAT(history({"matmul", "--state", "resolved"}).out, "no figure is like that\n");
  const Info json = parse_json(history({"matmul", "--host", "b", "--format", "json"}).out, "history --format json");
  ASSERT_FALSE(json.items("series").empty());
  for (const Info& series : json.items("series")) EXPECT_EQ(series.text("host"), "b");
  EXPECT_THAT(history({"matmul", "--host", "b", "--format", "csv"}).out, Not(HasSubstr("\na,")));
  EXPECT_THAT(
      history({"--state", "open", "--figure", "step_time_s"}).out,
      AllOf(HasSubstr("step_time_s of size=64 on gpu:0 of a: takes 50.0 % more time"), Not(HasSubstr("flops"))));
  EXPECT_EQ(history({"--host", "b"}).out, "no reported change is like that\n");
  const Ended unknown = history({"matmul", "--host", "c"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("history: no host 'c' (known: a, b)"));
  EXPECT_THAT(history({"--prune", "9", "--host", "b"}).err, HasSubstr("leave out --prune"));
}

}  // namespace
}  // namespace gpubench
