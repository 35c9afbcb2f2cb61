// gpubench history on what nights have appended: series, backups, merging, pruning, damage.
#include <gmock/gmock.h>

#include "core/results/info.h"
#include "tests/lua/host/nights.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class NightHistory : public Nights {};

TEST_F(NightHistory, AHistoryIsBackedUpAndNoEmptyOneReplacesIt) {
  nights_at(0.010, 2);
  EXPECT_THAT(history({"--backup", "copy.db"}).out, HasSubstr("wrote copy.db"));
  EXPECT_EQ(history({"--backup", "copy.db"}).status, 0);
  EXPECT_THAT(run_program({"history", "--out", "elsewhere", "--rebuild"}, path()).out, HasSubstr("0 runs read"));
  const Ended refused = run_program({"history", "--out", "elsewhere", "--backup", "copy.db"}, path());
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("has no run yet"));
  write("mine.txt", "mine");
  EXPECT_NE(history({"--backup", "mine.txt"}).status, 0);
  EXPECT_EQ(read("mine.txt"), "mine");
}

TEST_F(NightHistory, TheTrendIsPrintedForPrograms) {
  nights_at(0.010, 2);
  const Ended json = history({"steady", "--format", "json"});
  const Info parsed = parse_json(json.out, "history --format json");
  const Info& series = parsed.find("series")->list()->at(0);
  EXPECT_EQ(series.text("suite"), "night");
  EXPECT_EQ(series.find("points")->list()->size(), 2u);
  EXPECT_THAT(history({"steady", "--format", "csv"}).out, StartsWith("host,card,slot,suite,experiment,axes,metric"));
  EXPECT_EQ(history({"--export", "all.csv"}).status, 0);
  EXPECT_EQ(read("all.csv"), history({"steady", "--format", "csv"}).out);
  const Ended again = history({"--export", "all.csv"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("'all.csv' is there already"));
  EXPECT_THAT(history({"unsteady"}).err, AllOf(HasSubstr("no experiment 'unsteady'"), HasSubstr("steady")));
}

TEST_F(NightHistory, AHistoryIsRebuiltMergedAndPruned) {
  EXPECT_THAT(history().err, AllOf(HasSubstr("there is no history"), HasSubstr("--rebuild")));
  nights_at(0.010, 3);
  const std::string before = history({"steady", "--format", "json"}).out;
  for (const char* const name : {"results/history.db", "results/history.db-wal", "results/history.db-shm"})
    std::filesystem::remove(file(name));
  EXPECT_THAT(history({"--rebuild"}).out, HasSubstr("3 runs read"));
  EXPECT_EQ(history({"steady", "--format", "json"}).out, before);
  EXPECT_THAT(run_program({"history", "--out", "elsewhere", "--merge", "results/history.db"}, path()).out,
              HasSubstr("3 runs added"));
  EXPECT_THAT(history({"--prune", "1"}).out, HasSubstr("0 runs forgotten")) << "they are of today";
  write("text.db", std::string(200, 'x'));
  const Ended several = run_program({"history", "--out", "third", "--merge", "text.db", "results/history.db", "none.db",
                                     "elsewhere/results/history.db"},
                                    path());
  EXPECT_EQ(several.status, 2);
  EXPECT_EQ(several.out, "3 runs added from results/history.db\n0 runs added from elsewhere/results/history.db\n");
  EXPECT_THAT(several.err, AllOf(HasSubstr("not merged: history: 'text.db'"), HasSubstr("there is no file 'none.db'")));
}

TEST_F(NightHistory, AnExperimentWithTwoParametersIsTwoSeries) {
  write("scaled.lua", R"(local gb = require "gpubench"
    local base = gb.param("base", 1)
    gb.experiment { name = "scaled", title = "t", axes = { gb.axis("n", { 1 }) },
      columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
      run = function() return { figure_s = base } end, charts = { gb.chart.bar { x = "n", y = "figure_s" } } })");
  write("night.lua", R"(return { minutes = 5, scripts = {
    { "scaled", set = { base = 1 } }, { "scaled", set = { base = 3 } }, "scaled" } })");
  EXPECT_EQ(nightly().status, 0);
  EXPECT_EQ(nightly().out.find("no longer measured"), std::string::npos);
  EXPECT_THAT(history({"scaled"}).out, AllOf(HasSubstr(": n=1\n"), HasSubstr(": n=1 base=3\n")));
  const std::string metrics = read("results/nightly-night.prom");
  std::vector<std::string> labels;
  for (std::size_t at = metrics.find("gpubench_value{"); at != std::string::npos;
       at = metrics.find("gpubench_value{", at + 1))
    labels.push_back(metrics.substr(at, metrics.find('}', at) - at));
  EXPECT_EQ(labels.size(), 2u) << metrics;
  EXPECT_NE(labels[0], labels[1]);
}

TEST_F(NightHistory, ADamagedHistoryIsNamedAndRowsWait) {
  level(1);
  std::filesystem::create_directory(file("results"));
  write("results/history.db", std::string(5000, 'x'));
  const Ended ended = nightly();
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("is damaged, or no history"), HasSubstr("history --rebuild")));
  EXPECT_FALSE(find("history.pending").empty());
  std::filesystem::remove(file("results/history.db"));
  EXPECT_EQ(nightly().status, 0);
  EXPECT_TRUE(find("history.pending").empty());
  const Info parsed = parse_json(history({"steady", "--format", "json"}).out, "history");
  EXPECT_EQ(parsed.find("series")->list()->at(0).find("points")->list()->size(), 2u);
}

TEST_F(NightHistory, WhatIsForTheWholeHistoryTakesNoExperiment) {
  nights_at(0.010, 2);
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--prune", "0"},
                                                  {"--rebuild"},
                                                  {"--merge", "other.db"},
                                                  {"--resolve", "1"},
                                                  {"--backup", "f.db"}}) {
    std::vector<std::string> all = options;
    all.insert(all.begin(), "steady");
    const Ended ended = history(all);
    EXPECT_EQ(ended.status, 2) << options[0];
    EXPECT_THAT(ended.err, HasSubstr(options[0] + " is for the whole history; leave out 'steady'"));
  }
  EXPECT_EQ(history({"steady", "--format", "json", "--export", "f.csv"}).status, 2);
  const Info parsed = parse_json(history({"steady", "--format", "json"}).out, "history");
  EXPECT_EQ(parsed.find("series")->list()->at(0).find("points")->list()->size(), 2u) << "nothing was forgotten";
  const Ended unknown = history({"unsteady", "--export", "f.csv"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("no experiment 'unsteady'"), HasSubstr("steady")));
  EXPECT_FALSE(std::filesystem::exists(file("f.csv")));
}

}  // namespace
}  // namespace gpubench
