// gpubench report, and the other places in which its page appears.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Seven processes whose figure the script computes, a little different in each.
class Reports : public FolderTest {
 protected:
  Ended in_folder(const std::vector<std::string>& arguments) const { return run_program(arguments, path()); }
  Ended measured(const std::string& name, const std::string& work, const std::string& tag,
                 const std::string& count = "7") const {
    write("made.lua", "local gb = require 'gpubench' gb.experiment { name = '" + name +
                          "', title = 't', axes = { gb.axis('n', { 1, 2, 3, 4, 5 }) }, run = function(point) "
                          "return { work_s = " +
                          work +
                          " * point.n * (1 + 0.0001 * math.random()) } end, "
                          "charts = { gb.chart.line { x = 'n', y = 'work_s' } } }");
    return in_folder({"run", "made.lua", "--quick", "--repeat", count, "--tag", tag});
  }
};

TEST_F(Reports, AComparisonIsAPageWithTheStatusOfCompare) {
  measured("made", "1", "before");
  measured("made", "1.1", "after");
  const Ended slower = in_folder({"report", "before", "after"});
  EXPECT_EQ(slower.status, 1) << slower.err;
  EXPECT_THAT(slower.out,
              AllOf(HasSubstr("SLOWER in 5 of 5 comparisons"), HasSubstr("wrote report-before-after.html\n")));
  const std::string page = read("report-before-after.html");
  EXPECT_THAT(page, AllOf(HasSubstr("<h1>SLOWER in 5 of 5 comparisons"), HasSubstr("id=\"experiment1\""),
                          HasSubstr("href=\"results/made/"), HasSubstr("/report.html\"")));
  EXPECT_EQ(in_folder({"report", "after", "before", "--file", "other.html"}).status, 0) << "FASTER never fails";
  EXPECT_THAT(read("other.html"), HasSubstr("FASTER"));
  const Ended printed = in_folder({"compare", "before", "after", "--format", "html"});
  EXPECT_EQ(printed.status, 1);
  EXPECT_EQ(printed.out, page) << "the same page";
}

TEST_F(Reports, OneSideIsDescribed) {
  measured("made", "1", "night", "2");
  const Ended one = in_folder({"report", "night"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(read("report-night.html"),
              AllOf(HasSubstr("5 rows measured by 2 processes"), Not(HasSubstr("made: Trend"))));
  EXPECT_EQ(in_folder({"history", "--rebuild"}).status, 0);
  EXPECT_EQ(in_folder({"report", "night"}).status, 0);
  const Ended chosen = in_folder({"report", "night", "--figure", "nope"});
  EXPECT_EQ(chosen.status, 2);
  EXPECT_THAT(chosen.err, HasSubstr("the page of one side, here night, has all of its figures"));
  EXPECT_THAT(read("report-night.html"), HasSubstr("made: Trend")) << "a history knows the experiment";
}

TEST_F(Reports, OneSideIsATableForAPaper) {
  measured("made", "1", "night", "2");
  const Ended one = in_folder({"report", "night", "--format", "latex"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.out, "wrote report-night.tex\n");
  EXPECT_THAT(read("report-night.tex"),
              AllOf(HasSubstr("\\begin{tabular}{rr}\n  \\hline\n  n & work (s) \\\\\n"), HasSubstr("\n  5 & 5.0"),
                    HasSubstr("How it was measured.}\nMeasured with gpubench ")));
  const Ended chosen = in_folder({"report", "night", "--format", "latex", "--figure", "wrk_s", "--file", "t.tex"});
  EXPECT_EQ(chosen.status, 2);
  EXPECT_THAT(chosen.err, HasSubstr("unknown figure 'wrk_s' (did you mean 'work_s'?)"));
  const Ended two = in_folder({"report", "night", "night", "--format", "latex"});
  EXPECT_EQ(two.status, 2);
  EXPECT_THAT(two.err, HasSubstr("report: --format latex writes one side, given: 2 sides"));
  EXPECT_THAT(in_folder({"report", "--history", "made", "--format", "latex"}).err, HasSubstr("given: --history"));
}

TEST_F(Reports, AHistoryIsATrend) {
  EXPECT_THAT(in_folder({"report", "--history", "made"}).err, HasSubstr("there is no history"));
  measured("made", "1", "night", "2");
  in_folder({"history", "--rebuild"});
  const Ended trend = in_folder({"report", "--history", "made"});
  EXPECT_EQ(trend.status, 0) << trend.err;
  EXPECT_THAT(trend.out,
              AllOf(HasSubstr("No figure has changed in 2 runs\n"), HasSubstr("wrote report-history-made.html\n")));
  EXPECT_THAT(read("report-history-made.html"), HasSubstr("made over the nights"));
  const Ended unknown = in_folder({"report", "--history", "mode"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no experiment 'mode'"));
}

TEST_F(Reports, ArchivesAreSides) {
  measured("made", "1", "before", "1");
  EXPECT_EQ(in_folder({"pack", "made", "--file", "a.tar.gz"}).status, 0);
  measured("made", "1.1", "after", "1");
  EXPECT_EQ(in_folder({"pack", "made", "--file", "b.tar.gz", "--anonymous"}).status, 0);
  std::filesystem::remove_all(file("results"));
  const Ended compared = in_folder({"report", "a.tar.gz", "b.tar.gz"});
  EXPECT_EQ(compared.status, 3) << "too few processes";
  EXPECT_THAT(compared.out, HasSubstr("nothing judged: insufficient data"));
  EXPECT_THAT(read("report-a.tar.gz-b.tar.gz.html"), HasSubstr("href=\"a.tar.gz\""));
  std::filesystem::resize_file(file("b.tar.gz"), 500);
  const Ended cut = in_folder({"report", "a.tar.gz", "b.tar.gz"});
  EXPECT_EQ(cut.status, 2);
  EXPECT_THAT(cut.err, HasSubstr("b.tar.gz"));
}

TEST_F(Reports, BadInputHasTheStatusThatSaysSo) {
  const Ended nothing = in_folder({"report"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, HasSubstr("either sides are needed or --history EXPERIMENT"));
  EXPECT_EQ(in_folder({"report", "a", "--history", "b"}).status, 2);
  const Ended unknown = in_folder({"report", "nothing", "here"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("'nothing' is no run, folder of runs, archive"));
  measured("made", "1", "one", "1");
  measured("other", "1", "two", "1");
  const Ended apart = in_folder({"report", "one", "two", "--file", "apart.html"});
  EXPECT_EQ(apart.status, 3) << "no common row";
  EXPECT_THAT(read("apart.html"), HasSubstr("no common row"));
  const Ended lacks_one = in_folder({"report", "one,two", "last", "--file", "x.html"});
  EXPECT_EQ(lacks_one.status, 2) << "a process can be on one side only";
  measured("other", "1", "three", "1");
  const Ended vanished = in_folder({"report", "one,two", "three", "--file", "vanished.html"});
  EXPECT_EQ(vanished.status, 1) << vanished.err;
  EXPECT_THAT(vanished.out, HasSubstr("VANISHED in 5 of 10 comparisons"));
  EXPECT_EQ(in_folder({"report", "one", "three", "--file", "no/such/folder.html"}).status, 2);
}

TEST_F(Reports, ProcessesOfAGroupMeasureTheirPointsInRandomOrders) {
  measured("made", "1", "night", "4");
  int in_order = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(file("results"))) {
    if (entry.path().filename() != "results.csv") continue;
    std::istringstream lines(contents(entry.path()));
    std::string points;
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("made,")) points += line.substr(5, line.find(',', 5) - 5);
    EXPECT_EQ(points.size(), 5u);
    in_order += points == "12345";
  }
  EXPECT_LT(in_order, 2);
}

}  // namespace
}  // namespace gpubench
