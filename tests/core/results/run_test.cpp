#include <algorithm>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/results/append_file.h"
#include "core/results/run_directory.h"
#include "core/results/run_reader.h"
#include "core/results/run_writer.h"
#include "tests/core/results/file_size_limit.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const char nasty_title[] = "a `touch /tmp/x` \"quoted\", <script>alert(1)</script>\nand a 'new' line";

RunPlan plan_in(const TemporaryDirectory& directory) {
  return {.experiment = "batch_size",
          .title = nasty_title,
          .axes = {"device", "width"},
          .extra_columns = {column_of("gap_s"), {"score", Unit::none, Better::higher, Kind::counted}},
          .out = directory.path()};
}

std::vector<std::string> names(const std::vector<Column>& columns) {
  std::vector<std::string> all;
  for (const Column& column : columns) all.push_back(column.name);
  return all;
}

TEST(Run, OneThatCannotBeginLeavesNothing) {
  const TemporaryDirectory out;
  RunPlan plan = plan_in(out);
  plan.extra_columns = {Column{.name = ""}};
  EXPECT_THROW(RunWriter{plan}, Error);
  EXPECT_FALSE(std::filesystem::exists(results_root(out.path())));
  {
    const FileSizeLimit limit(100);
    EXPECT_ERROR(HasSubstr("run.json"), RunWriter{plan_in(out)});
  }
  EXPECT_TRUE(std::filesystem::is_empty(results_root(out.path()) / "batch_size"));
}

/// The directory of a run with one row whose process is killed.
std::filesystem::path died_run(const TemporaryDirectory& out) {
  const pid_t process = ::fork();
  if (process == 0) {
    RunWriter writer(plan_in(out));
    writer.add({{"device", std::string("cpu:0")}, {"width", std::int64_t{8}}}, {});
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(process, nullptr, 0);
  return list_runs(out.path()).at(0).directory;
}

TEST(Run, OneWhoseProcessIsGoneHasDied) {
  const TemporaryDirectory out;
  const auto directory = died_run(out);
  EXPECT_EQ(read_run(directory).info.text("status"), "died");
  EXPECT_EQ(list_runs(out.path()).at(0).status, "died");
  EXPECT_EQ(parse_json(read_file(directory / "run.json"), "run.json").text("status"), "running") << "it is only read";
  const auto elsewhere = directory.parent_path() / "20260101T000000Z-another_host";
  std::filesystem::rename(directory, elsewhere);
  EXPECT_EQ(read_run(elsewhere).info.text("status"), "running") << "its process cannot be seen from here";
}

TEST(Run, OneThatDiedWhileItWroteARowLacksThatRow) {
  const TemporaryDirectory out;
  const auto directory = died_run(out);
  const std::string whole = read_file(directory / "results.csv");
  for (const char* torn : {"batch_size,2,0", "batch_size,2,0,\"a quoted\r\nlin", "\"", "batch_size,2\r"}) {
    replace_file(directory / "results.csv", whole + torn);
    EXPECT_EQ(read_run(directory).records.size(), 1u) << torn;
    EXPECT_EQ(list_runs(out.path()).at(0).rows, 1u) << torn;
  }
}

TEST(Run, ARowThatAKillMayTearComesWithANewFile) {
  const TemporaryDirectory out;
  RunWriter writer(plan_in(out));
  const auto rows = writer.directory() / "results.csv", link = out.path() / "link";
  std::filesystem::create_hard_link(rows, link);
  writer.add({{"detail", std::string("short")}});
  EXPECT_EQ(read_file(link), read_file(rows)) << "appended";
  const std::string before = read_file(rows);
  writer.add({{"detail", std::string(10'000, 'x')}});
  EXPECT_EQ(read_file(link), before);
  writer.add({{"detail", std::string("short")}});
  EXPECT_EQ(read_run(writer.directory()).records.size(), 3u);
  EXPECT_THAT(read_file(rows), StartsWith(before));
}

TEST(Run, OneWhoseProcessLivesIsNotEndedByAnother) {
  const TemporaryDirectory out;
  RunWriter writer(plan_in(out));
  EXPECT_FALSE(end_abandoned_run(writer.directory(), "process 0 was lost"));
  EXPECT_EQ(read_run(writer.directory()).info.text("status"), "running");
}

TEST(Run, OneWhoseProcessIsLostIsEndedByAnother) {
  const TemporaryDirectory out;
  const auto directory = died_run(out);
  EXPECT_TRUE(end_abandoned_run(directory, "process 0 was lost"));
  const auto run = read_run(directory);
  EXPECT_EQ(run.info.text("status"), "error");
  EXPECT_EQ(run.info.text("detail"), "process 0 was lost");
  EXPECT_EQ(run.info.text("rows"), "1");
  EXPECT_THAT(run.info.text("finished"), testing::MatchesRegex("20[0-9-]+T[0-9:]+Z"));
  EXPECT_EQ(run.info.text("title"), nasty_title);
  EXPECT_FALSE(end_abandoned_run(directory, "again")) << "it has ended";
  EXPECT_EQ(read_run(directory).info.text("detail"), "process 0 was lost");
  EXPECT_FALSE(end_abandoned_run(directory / "elsewhere", "not on this machine"));
}

TEST(Run, WhatIsWrittenIsReadBack) {
  const TemporaryDirectory out;
  RunWriter writer(plan_in(out));
  const std::vector<double> steps{0.001, 0.0025};
  writer.add({{"device", std::string("cpu:0")}, {"width", std::int64_t{8}}, {"step_time_s", 0.001}, {"gap_s", 1e-6}},
             steps);
  writer.add({{"status", std::string("error")}, {"detail", std::string(nasty_title)}});
  writer.set_info(Info::Fields{{"seed", 7}});
  writer.finish("done");

  const auto run = read_run(writer.directory());
  ASSERT_EQ(run.records.size(), 2u);
  EXPECT_EQ(run.records[0].get("width"), Cell(std::int64_t{8}));
  EXPECT_EQ(run.records[0].get("gap_s"), Cell(1e-6));
  EXPECT_EQ(run.records[0].get("point"), Cell(std::int64_t{1}));
  EXPECT_EQ(run.records[0].get("status"), Cell(std::string("ok")));
  EXPECT_EQ(run.records[1].get("point"), Cell(std::int64_t{2}));
  EXPECT_EQ(run.records[1].get("detail"), Cell(std::string(nasty_title)));
  EXPECT_FALSE(run.records[1].has("step_time_s"));
  EXPECT_EQ(run.info.text("title"), nasty_title);
  EXPECT_EQ(run.info.text("seed"), "7");
  EXPECT_FALSE(run.info.find("program")->text("version").empty());
  EXPECT_THAT(run.info.find("program")->text("compiler"), StartsWith("GCC "));
  EXPECT_THAT(run.info.find("program")->find("libraries")->text("CPU"), StartsWith("oneDNN "));
  EXPECT_EQ(run.info.text("status"), "done");
  EXPECT_EQ(run.info.text("rows"), "2");
  EXPECT_EQ(read_file(writer.directory() / "samples.csv"),
            "point,process,round,step,seconds\r\n1,0,1,1,0.001\r\n1,0,1,2,0.0025\r\n");
}

TEST(Run, AxesFollowTheKeysAndStandardNamesStandOnce) {
  const TemporaryDirectory out;
  const auto columns = names(RunWriter(plan_in(out)).columns());
  ASSERT_EQ(columns.size(), standard_columns().size() + 3);
  EXPECT_EQ(columns[2], "process");
  EXPECT_EQ(columns[3], "width");
  EXPECT_EQ(columns[4], "status");
  EXPECT_EQ(columns.back(), "score");
}

TEST(Run, AScriptsColumnIsReadBackAsItWasDeclared) {
  const TemporaryDirectory out;
  RunWriter writer(plan_in(out));
  writer.add({{"score", std::int64_t{7}}, {"gap_s", 0.5}});
  writer.finish("done");
  const gpubench::Run run = read_run(writer.directory());
  const auto score = std::ranges::find(run.columns, "score", &Column::name);
  EXPECT_EQ(score->kind, Kind::counted);
  EXPECT_EQ(score->better, Better::higher);
  EXPECT_EQ(std::ranges::find(run.columns, "gap_s", &Column::name)->kind, Kind::time);
}

TEST(Run, RoundsAreALineForEachFigure) {
  const TemporaryDirectory out;
  RunWriter writer(plan_in(out));
  EXPECT_FALSE(std::filesystem::exists(writer.directory() / "rounds.csv"));
  const Record row{{"point", std::int64_t{3}}, {"process", std::int64_t{0}}, {"status", std::string("ok")},
                   {"steps", std::int64_t{9}}, {"step_time_s", 0.25},        {"width", 1.5}};
  writer.add_round(row, 1, 1, std::vector{0.5});
  writer.add_round(row, 2, 1, std::vector{0.25, 0.125});
  EXPECT_EQ(read_file(writer.directory() / "rounds.csv"),
            "point,process,row,round,column,value\r\n3,0,1,1,step_time_s,0.25\r\n3,0,1,2,step_time_s,0.25\r\n");
  EXPECT_EQ(read_file(writer.directory() / "samples.csv"),
            "point,process,round,step,seconds\r\n3,0,2,1,0.25\r\n3,0,2,2,0.125\r\n");
}

TEST(Run, RowsOfRoundsThatGoOnAreReplaced) {
  const TemporaryDirectory out;
  RunWriter writer(plan_in(out));
  const auto row = [](std::int64_t point, double gap) { return Record{{"point", point}, {"gap_s", gap}}; };
  for (const std::int64_t point : {1, 2, 2, 4}) writer.add(row(point, 1));
  Record wider = row(4, 3);
  wider.set("late", std::int64_t{5});
  writer.replace({row(2, 2), wider});
  const gpubench::Run run = read_run(writer.directory());
  ASSERT_EQ(run.records.size(), 3u);
  EXPECT_EQ(run.records[0].get("gap_s"), Cell(1.0));
  EXPECT_EQ(run.records[1].get("gap_s"), Cell(2.0));
  EXPECT_EQ(run.records[2].get("late"), Cell(std::int64_t{5}));
  writer.add(row(5, 4));
  EXPECT_EQ(read_run(writer.directory()).records.size(), 4u) << "the file goes on";
}

TEST(Run, RowsAreOnDiskBeforeTheNextPoint) {
  const TemporaryDirectory out;
  RunWriter writer(plan_in(out));
  writer.add({{"width", 1.5}});
  EXPECT_EQ(read_run(writer.directory()).records.size(), 1u);
  EXPECT_EQ(read_run(writer.directory()).info.text("status"), "running");
}

TEST(Run, OneThatIsGivenUpIsAnError) {
  const TemporaryDirectory out;
  const auto directory = RunWriter(plan_in(out)).directory();
  EXPECT_EQ(read_run(directory).info.text("status"), "error");
}

TEST(Run, AColumnThatComesLaterWidensTheHeader) {
  const TemporaryDirectory out;
  RunWriter writer(plan_in(out));
  writer.add({{"width", std::int64_t{1}}});
  writer.add({{"width", std::int64_t{2}}, {"surprise_bytes", std::int64_t{5}}});
  writer.add({{"width", std::int64_t{3}}, {"surprise_bytes", std::int64_t{6}}});
  const auto run = read_run(writer.directory());
  ASSERT_EQ(run.records.size(), 3u);
  EXPECT_FALSE(run.records[0].has("surprise_bytes"));
  EXPECT_EQ(run.records[1].get("surprise_bytes"), Cell(std::int64_t{5}));
  EXPECT_EQ(run.records[2].get("surprise_bytes"), Cell(std::int64_t{6}));
  EXPECT_EQ(run.columns.back().unit, Unit::bytes);
}

TEST(Run, AnAxisOfTextThatLooksLikeNumbersStaysText) {
  const TemporaryDirectory out;
  RunWriter writer({.experiment = "e", .title = "", .axes = {"version"}, .extra_columns = {}, .out = out.path()});
  writer.add({{"version", std::string("1.10")}});
  writer.finish("done");
  EXPECT_EQ(read_run(writer.directory()).records[0].get("version"), Cell(std::string("1.10")));
}

TEST(Run, ARowThatCannotBeWrittenLeavesTheFinishedOnes) {
  const TemporaryDirectory out;
  RunWriter writer(plan_in(out));
  writer.add({{"width", std::int64_t{1}}}, std::vector<double>{0.5});
  const std::string samples = read_file(writer.directory() / "samples.csv");
  // The rewritten file cannot take its place, which a directory has.
  std::filesystem::rename(writer.directory() / "results.csv", writer.directory() / "kept.csv");
  std::filesystem::create_directory(writer.directory() / "results.csv");
  EXPECT_ERROR(HasSubstr("a folder has that name"),
               writer.add({{"width", std::int64_t{2}}, {"late", true}}, std::vector<double>{0.5}));
  std::filesystem::remove(writer.directory() / "results.csv");
  std::filesystem::rename(writer.directory() / "kept.csv", writer.directory() / "results.csv");
  EXPECT_EQ(read_run(writer.directory()).records.size(), 1u);
  EXPECT_EQ(read_file(writer.directory() / "samples.csv"), samples);
  writer.add({{"width", std::int64_t{2}}});
  EXPECT_EQ(read_run(writer.directory()).records.size(), 2u);
}

TEST(Run, TwoRunsOfOneSecondGetTwoDirectories) {
  const TemporaryDirectory out;
  const auto time = std::chrono::system_clock::time_point(std::chrono::seconds(1'800'000'000));
  const auto first = make_run_directory(out.path(), "e", time);
  const auto second = make_run_directory(out.path(), "e", time);
  EXPECT_THAT(first.filename().string(), StartsWith("20270115T080000Z-"));
  EXPECT_EQ(second.filename().string(), first.filename().string() + "-2");
}

TEST(Run, BadNamesAndPlacesAreRefused) {
  const TemporaryDirectory out;
  for (const char* name : {"", "../up", "a/b", ".hidden", "-x", "with space", "ü"}) {
    EXPECT_ERROR(HasSubstr("cannot name a directory: use letters, digits"),
                 RunWriter({.experiment = name, .title = "", .axes = {}, .extra_columns = {}, .out = out.path()}));
  }
  std::ofstream(out.path() / "results") << "a file";
  EXPECT_ERROR(AllOf(HasSubstr("results: cannot make the directory '"), HasSubstr("Not a directory"),
                     HasSubstr("choose another place with --out")),
               RunWriter(plan_in(out)));
}

TEST(Run, AreListedNewestFirstAndFoundByAnyOfTheirNames) {
  const TemporaryDirectory out;
  const RunWriter first(plan_in(out));
  RunWriter second(plan_in(out));
  second.add({{"width", 1.0}});
  second.finish("interrupted");
  const auto runs = list_runs(out.path());
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].name, second.name());
  EXPECT_EQ(runs[0].status, "interrupted");
  EXPECT_EQ(runs[0].rows, 1u);
  EXPECT_EQ(runs[0].title, nasty_title);
  EXPECT_EQ(runs[1].status, "running");

  EXPECT_EQ(find_run("batch_size", out.path()), second.directory());
  EXPECT_EQ(find_run(first.name(), out.path()), first.directory());
  EXPECT_EQ(find_run("batch_size/" + first.name(), out.path()), first.directory());
  EXPECT_EQ(find_run(first.directory().string(), out.path()), first.directory());
  EXPECT_EQ(find_run((first.directory() / "results.csv").string(), out.path()), first.directory());
  EXPECT_ERROR(AllOf(HasSubstr("no run 'nothing'"), HasSubstr("there are runs of batch_size")),
               find_run("nothing", out.path()));
  EXPECT_ERROR(HasSubstr("there are no runs in '"), find_run("nothing", out.path() / "empty"));
}

TEST(Run, ThoseOfThisMachineAreFoundUnread) {
  const TemporaryDirectory directory;
  std::vector<std::filesystem::path> made;
  for (int i = 0; i < 3; ++i) made.push_back(RunWriter({"mine", "t", {}, {}, directory.path()}).directory());
  for (const std::string& host : {std::string("another.host"), host_name() + "2"})
    std::filesystem::copy(made[0], made[0].parent_path() / ("20990101T000000Z-" + host),
                          std::filesystem::copy_options::recursive);
  std::ofstream(made[2] / "run.json") << "damaged";
  EXPECT_THAT(runs_of_this_machine("mine", directory.path(), 10), ElementsAre(made[2], made[1], made[0]));
  EXPECT_THAT(runs_of_this_machine("mine", directory.path(), 1), ElementsAre(made[2]));
  EXPECT_THAT(runs_of_this_machine("other", directory.path(), 1), IsEmpty());
}

TEST(Run, DamagedFilesAreNamedWithTheirRow) {
  const TemporaryDirectory out;
  RunWriter writer(plan_in(out));
  writer.add({{"width", 1.0}});
  std::ofstream(writer.directory() / "results.csv", std::ios::app) << "short,row\r\n";
  EXPECT_ERROR(HasSubstr("row 2 has 2 fields; the header has"), read_run(writer.directory()));
  std::ofstream(writer.directory() / "run.json") << "{";
  EXPECT_ERROR(AllOf(StartsWith("a damaged run: "), HasSubstr("run.json: not valid JSON")),
               read_run(writer.directory()));
  EXPECT_EQ(list_runs(out.path())[0].status, "unreadable");
  EXPECT_THAT(list_runs(out.path())[0].damage, HasSubstr("run.json: not valid JSON"));
}

TEST(Run, OneWithoutItsTableIsDamagedOnceNoProcessWritesIt) {
  const TemporaryDirectory out;
  std::filesystem::path directory;
  {
    RunWriter writer(plan_in(out));
    writer.add({{"width", 1.0}});
    directory = writer.directory();
    std::filesystem::remove(directory / "results.csv");
    EXPECT_TRUE(list_runs(out.path()).empty());
    writer.finish("done");
  }
  std::filesystem::remove(directory / "results.csv");
  EXPECT_EQ(find_run(directory.string(), out.path()), directory);
  EXPECT_ERROR(AllOf(StartsWith("a damaged run: "), HasSubstr("results.csv")), read_run(directory));
  ASSERT_EQ(list_runs(out.path()).size(), 1u);
  EXPECT_THAT(list_runs(out.path())[0].damage, HasSubstr("results.csv"));
}

TEST(Run, MoreColumnsThanARunMayHaveAreRefused) {
  const TemporaryDirectory out;
  RunWriter writer(plan_in(out));
  Record wide;
  for (std::size_t i = 0; i <= most_columns; ++i) wide.set("c" + std::to_string(i), std::int64_t{1});
  EXPECT_ERROR(HasSubstr("the rows have more than 2000 columns together"), writer.add(wide));
  writer.add({{"v", std::int64_t{1}}});
  writer.finish("done");
  std::string header = "c0";
  for (std::size_t i = 1; i <= most_columns; ++i) header += ",c" + std::to_string(i);
  std::ofstream(writer.directory() / "results.csv") << header << "\r\n";
  EXPECT_ERROR(HasSubstr("results.csv: row 1 has more than 2000 columns"), read_run(writer.directory()));
}

}  // namespace
}  // namespace gpubench
