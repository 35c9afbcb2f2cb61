#include "core/report/text/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "core/report/text/text.h"
#include "core/results/csv.h"
#include "tests/core/compare/sides.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Side side_of_commit(const std::string& name, const std::vector<double>& values, const std::string& commit) {
  Side side = side_with(name, "step_time_s", values);
  for (MeasuringProcess& process : side.processes) {
    process.info.set("program", Info::Fields{{"commit", commit}});
    process.info.set("started", "2026-11-24T08:00:00Z");
    process.info.set("finished", "2026-11-24T08:00:30Z");
  }
  return side;
}

Comparison slower_comparison() {
  const std::vector<Side> sides{side_of_commit("before", seven_around(0.01), "one"),
                                side_of_commit("after", seven_around(0.0105), "two")};
  return compare_sides(sides);
}

Comparison few_comparison() {
  const std::vector<Side> sides{side_of_commit("before", {1}, "one"), side_of_commit("after", {1.5}, "one")};
  return compare_sides(sides);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(ComparisonText, SaysWhatIsSlowerHowSureItIsAndWhatMayBeTheCause) {
  const std::string text = render_comparison(slower_comparison(), Format::text);
  EXPECT_THAT(text, StartsWith("SLOWER in 1 of 1 comparison: takes 5.0 % more time [+"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("\nbaseline  before, 7 processes\ncompared  after, 7 processes\n"),
                    HasSubstr("\ncode differs: program.commit: one -> two\n"), HasSubstr("SLOWER   e batch_size=32"),
                    HasSubstr("10 ms"), HasSubstr("0.12 %"), HasSubstr("possible causes: code (program.commit)\n"),
                    HasSubstr("step time: takes 5.0 % more time [+4.8, +5.2] % (geometric mean of 1 row)\n"),
                    HasSubstr("are found in 95 %\n")));
  EXPECT_THAT(text, Not(HasSubstr("+takes 5.0 % more time")));
}

TEST(ComparisonText, FitsTheWindow) {
  Comparison comparison = slower_comparison();
  comparison.rows[0].key.axes.emplace_back("a_long_name_of_an_axis", "and a value that is even longer than its name");
  for (const std::size_t width : {40, 60, 80, 120}) {
    for (const std::string& line : lines_of(render_comparison(comparison, Format::text, {.width = width}))) {
      EXPECT_LE(display_width(line), std::max<std::size_t>(width, 60)) << line;
    }
  }
}

TEST(ComparisonText, FewProcessesNameTheCommandThatSettlesIt) {
  Comparison comparison = few_comparison();
  EXPECT_THAT(render_comparison(comparison, Format::text),
              AllOf(HasSubstr("AMBIGUOUS: insufficient data: 1 and 1 processes; 7 a side are needed, so 12 more runs"),
                    HasSubstr("to settle what is ambiguous, measure 7 processes a side (about 7 min for both sides)")))
      << "of results without a folder no command is known";
  comparison.more = {.command = {"gpubench", "run", "batch_size", "--set=batch_size=8 9"}, .rest = {}};
  EXPECT_THAT(
      render_comparison(comparison, Format::text, {.width = 40}),
      HasSubstr("measure 7 processes a side: gpubench run batch_size '--set=batch_size=8 9' --repeat 7 (about 7 "
                "min for both sides)\n"))
      << "a line break would make two commands of it";
}

TEST(ComparisonText, ACommandThatMeasuresBothSidesKeepsItsScriptBehindTheOptions) {
  Comparison comparison = few_comparison();
  comparison.more = {.command = {"gpubench", "ab", "A=1", "--set n=2"}, .rest = {"--", "made.lua"}};
  EXPECT_THAT(render_comparison(comparison, Format::text),
              HasSubstr("a side: gpubench ab A=1 '--set n=2' --repeat 7 -- made.lua (about"));
}

TEST(ComparisonText, ManyRowsThatAreTheSameAreFolded) {
  Side before = side_of_commit("a", seven_around(1), "one"), after = side_of_commit("b", seven_around(1), "one");
  for (Side* const side : {&before, &after}) {
    for (MeasuringProcess& process : side->processes) {
      for (std::int64_t n = 1; n < 12; ++n) {
        process.records.push_back(process.records[0]);
        process.records.back().set("batch_size", n);
      }
    }
  }
  const std::vector<Side> sides{before, after};
  const Comparison comparison = compare_sides(sides);
  EXPECT_THAT(render_comparison(comparison, Format::text), HasSubstr("\n12 SAME; --wide shows them\n"));
  EXPECT_THAT(render_comparison(comparison, Format::text, {.all_columns = true}), HasSubstr("batch_size=11"));
}

TEST(ComparisonText, SaysThatAThresholdIsWiderThanUsual) {
  Comparison comparison = slower_comparison();
  EXPECT_THAT(trust_text(comparison), Not(HasSubstr("count as the same")));
  comparison.rows.at(0).changes.at(0).threshold = 0.5;
  EXPECT_THAT(trust_text(comparison), HasSubstr("; changes of up to 50.0 % count as the same"));
}

TEST(ComparisonMarkdown, HasFiveLines) {
  const std::vector<std::string> lines = lines_of(render_comparison(slower_comparison(), Format::markdown));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[0], StartsWith("**SLOWER in 1 of 1 comparison: takes 5.0 % more time"));
  EXPECT_EQ(lines[1], "`before` (7 processes) → `after` (7 processes): 1 SLOWER");
  EXPECT_EQ(lines[2], "Differs: program.commit");
}

TEST(ComparisonJson, HoldsEveryNumberOfAVerdict) {
  const Info json = parse_json(render_comparison(slower_comparison(), Format::json), "json");
  const Info& change = (*(*json.find("rows")->list())[0].find("changes")->list())[0];
  EXPECT_EQ(change.text("verdict"), "SLOWER");
  EXPECT_EQ(change.text("alarm"), "true");
  for (const char* name : {"before", "after", "change", "change_low", "change_high", "p", "threshold", "noise",
                           "false_positive_rate", "visible_change"})
    EXPECT_NE(change.find(name), nullptr) << name;
}

TEST(ComparisonCsv, HasALineForEachFigureOfARow) {
  const auto lines = parse_csv(render_comparison(slower_comparison(), Format::csv), "csv");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].size(), lines[1].size());
  EXPECT_THAT(std::vector(lines[1].begin(), lines[1].begin() + 5),
              ElementsAre("after", "e", "batch_size=32", "step_time_s", "SLOWER"));
}

TEST(ComparisonJunit, WorseRowsFailAndOpenOnesAreSkipped) {
  EXPECT_THAT(
      render_comparison(slower_comparison(), Format::junit),
      AllOf(HasSubstr("tests=\"1\" failures=\"1\""), HasSubstr("<failure message=\"SLOWER: takes 5.0 % more time")));
  EXPECT_THAT(render_comparison(few_comparison(), Format::junit),
              HasSubstr("<skipped message=\"AMBIGUOUS: insufficient"));
}

TEST(ComparisonText, NoCommonRowIsSaid) {
  Side other = side_of_commit("b", seven_around(1), "one");
  for (MeasuringProcess& process : other.processes) process.records[0].set("batch_size", std::int64_t{1});
  const std::vector<Side> sides{side_of_commit("a", seven_around(1), "one"), other};
  EXPECT_THAT(render_comparison(compare_sides(sides), Format::text), StartsWith("no common row"));
}

}  // namespace
}  // namespace gpubench
