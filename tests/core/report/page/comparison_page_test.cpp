#include "core/report/page/comparison_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tuple>

#include "tests/core/compare/sides.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two rows: batch_size 32 as given, and 64 that is always the same.
Side side_of(const std::string& name, double middle, const std::string& commit) {
  Side side = side_with(name, "step_time_s", seven_around(middle));
  for (MeasuringProcess& process : side.processes) {
    process.info.set("program", Info::Fields{{"commit", commit}});
    process.records.push_back(process.records[0]);
    process.records.back().set("batch_size", std::int64_t{64});
    process.records.back().set("step_time_s", 1.0);
  }
  return side;
}

std::string page_of(const std::vector<Side>& sides) {
  return comparison_page(sides, compare_sides(sides), "");
}

TEST(ComparisonPage, BeginsWithTheVerdictAndGoesOnFromCausesToData) {
  const std::string page = page_of({side_of("before", 0.01, "one"), side_of("after", 0.0105, "two")});
  std::size_t last = 0;
  for (const char* const part :
       {"<h1>SLOWER in 1 of 2 comparisons: takes 5.0 % more time", "<p>1 SLOWER, 1 SAME</p>",
        "Data: <a href=\"data:text/csv", "id=\"differs\"", "Possible causes: code (program.commit)",
        "<th scope=\"row\">program.commit</th>", "<td>one</td><td>two</td>", "id=\"changes\"",
        "geometric mean of 2 rows", "verdict refuted\">SLOWER</th>", "<summary>1 SAME</summary>", "id=\"trust\"",
        "before: 7 processes; after: 7 processes", "2 comparisons made, of 2 rows in common", "are found in 95 %",
        "id=\"runs\""}) {
    const std::size_t at = page.find(part, last);
    EXPECT_NE(at, std::string::npos) << part;
    if (at != std::string::npos) last = at;
  }
  EXPECT_THAT(page, Not(HasSubstr("id=\"time\""))) << "no row was traced";
}

TEST(ComparisonPage, HoldsItsDataAndLoadsNothing) {
  const std::string page = page_of({side_of("before", 0.01, "one"), side_of("after", 0.0105, "two")});
  EXPECT_THAT(page, AllOf(HasSubstr("download=\"comparison.csv\""), HasSubstr("download=\"comparison.json\""),
                          HasSubstr("side%2Cexperiment%2Crow"), Not(HasSubstr("src=")), Not(HasSubstr("http-equiv"))));
  EXPECT_EQ(page.find("<script"), page.rfind("<script")) << "the page's own one";
}

TEST(ComparisonPage, NamesAreEscaped) {
  const std::string page = page_of({side_of("<b>a</b>", 0.01, "<i>"), side_of("'b\"&", 0.02, "{{style}}")});
  EXPECT_THAT(page, AllOf(HasSubstr("&lt;b&gt;a&lt;/b&gt;: 7 processes"), HasSubstr("<td>&lt;i&gt;</td>"),
                          HasSubstr("<td>{{style}}</td>"), Not(HasSubstr("<b>a")), Not(HasSubstr("<i>"))));
}

TEST(ComparisonPage, TracedRowsSayWhereTheTimeWent) {
  std::vector<Side> sides;
  for (const auto& [name, step, input] : {std::tuple{"before", 0.010, 0.1}, std::tuple{"after", 0.012, 0.25}}) {
    Side side{.name = name, .processes = {}};
    for (int i = -3; i <= 3; ++i)
      side.processes.push_back(process_with(name + std::to_string(i),
                                            {{"step_time_s", step * (1 + 1e-4 * i)}, {"input_wait_share", input}}));
    sides.push_back(std::move(side));
  }
  EXPECT_THAT(page_of(sides),
              AllOf(HasSubstr("<p>Where the time went: input wait: 2 ms of the 2 ms that a step takes longer (e "),
                    HasSubstr("id=\"time\""), HasSubstr("10.0 % → 25.0 % (+2 ms)")));
}

TEST(ComparisonPage, SidesWithoutACommonRowSaySo) {
  Side other = side_of("b", 1, "one");
  for (MeasuringProcess& process : other.processes) process.info.set("experiment", "f");
  EXPECT_THAT(page_of({side_of("a", 1, "one"), other}), HasSubstr("<h1>no common row: the sides have measured"));
}

TEST(ComparisonPage, AnExperimentThatIsMissingIsAsLoudAsASlowOne) {
  Side before = side_of("a", 1, "one"), after = side_of("b", 1, "one");
  for (MeasuringProcess& process : after.processes) process.records.pop_back();
  const std::string page = page_of({before, after});
  EXPECT_THAT(page, AllOf(HasSubstr("<h1>VANISHED in 1 of 2 comparisons"), HasSubstr("verdict refuted\">VANISHED</th>"),
                          HasSubstr("VANISHED: it is not there (e batch_size=64, step time)")));
}

TEST(ComparisonPage, SeveralSidesHaveTablesOfTheirOwn) {
  const std::string page = page_of({side_of("a", 1, "one"), side_of("b", 1.1, "two"), side_of("c", 1.2, "three")});
  EXPECT_THAT(page, AllOf(HasSubstr("Possible causes of b: code"), HasSubstr("Possible causes of c: code"),
                          HasSubstr("<summary>1 SAME of b</summary>"), HasSubstr("aria-label=\"Changes of c\"")));
}

TEST(ComparisonPage, LinksToRunsAreRelativeToItsFolder) {
  std::vector<Side> sides{side_of("a", 1, "one"), side_of("b", 1, "two")};
  sides[0].processes[0].source = "/somewhere/results/e/run 1.csv";
  EXPECT_THAT(comparison_page(sides, compare_sides(sides), "/somewhere/pages"),
              HasSubstr("href=\"../results/e/run%201.csv\">a0</a>"));
}

}  // namespace
}  // namespace gpubench
