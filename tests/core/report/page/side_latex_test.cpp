#include "core/report/page/side_latex.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/compare/sides.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Side with_facts(Side side) {
  for (MeasuringProcess& process : side.processes) {
    process.info.set("axis_names", Info::List{"batch_size"});
    process.info.set("title", "50 % & more");
    process.info.set("started", "2026-11-21T04:17:00Z");
    process.info.set("program", Info::Fields{{"version", "0.2.0"}, {"commit", "ab_c"}, {"compiler", "GCC 12"}});
    process.info.set("machine", Info::Fields{{"cpu_model", "C#1 {x}"}, {"cpus_allowed", 2}, {"memory_bytes", 1 << 30}});
    process.info.set("devices",
                     Info::List{Info::Fields{
                         {"name", "gpu:0"}, {"description", "G_200"}, {"details", Info::Fields{{"driver", "580.1"}}}}});
    process.info.set("options", Info::Fields{{"budget_s", 2.0}, {"quick", true}});
    process.info.set("seed", 42);
    process.info.set("data", Info::Fields{{"mnist", Info::Fields{{"source", "sample"}, {"examples", 8000}}}});
  }
  return side;
}

/// The paragraph below the tables as one line.
std::string method_of(const Side& side) {
  const std::string text = side_latex(side);
  std::string line = text.substr(text.find("Measured with"));
  std::ranges::replace(line, '\n', ' ');
  return line;
}

TEST(SideLatex, OneProcessHasItsOwnIntervals) {
  Side side = with_facts(side_with("a", "step_time_s", {0.0123456}));
  Record& record = side.processes[0].records[0];
  record.set("step_time_low_s", 0.0121);
  record.set("step_time_high_s", 0.0125);
  record.set("rounds", std::int64_t{9});
  const std::string text = side_latex(side);
  EXPECT_THAT(text, HasSubstr("% e: 50 % & more\n"
                              "\\begin{tabular}{rr}\n"
                              "  \\hline\n"
                              "  batch size & step time (ms) \\\\\n"
                              "  \\hline\n"
                              "  32 & 12.35 [12.10, 12.50] \\\\\n"
                              "  \\hline\n"
                              "\\end{tabular}\n\n"
                              "\\noindent\\textbf{How it was measured.}\n"));
  EXPECT_EQ(method_of(side),
            "Measured with gpubench 0.2.0 (commit ab\\_c, GCC 12) on 2026-11-21 (UTC). "
            "Machine: C\\#1 \\{x\\}, 2 processors, 1 GiB of memory. Devices: gpu:0 (G\\_200, driver 580.1). "
            "Values are medians over 9 rounds in which the points took turns; brackets hold their 95 \\% intervals. "
            "Figures: step time: median wall time of a step, input included. "
            "A measurement ends when its interval is narrow, or when its budget of 2 s is spent (a shortened run). "
            "Settings: random numbers from the seed 42. Data: mnist (sample, 8 000 examples). ");
}

TEST(SideLatex, SevenProcessesHaveTheIntervalOfTheirMedian) {
  const Side seven = with_facts(side_with("a", "step_time_s", {1, 2, 3, 4, 5, 6, 7}));
  EXPECT_THAT(side_latex(seven), HasSubstr("  32 & 4.0 [1.0, 7.0] \\\\\n"));
  EXPECT_THAT(method_of(seven),
              HasSubstr("Values are medians over 7 processes; brackets hold the 95 \\% intervals of "));
  const Side three = with_facts(side_with("a", "step_time_s", {1, 2, 3}));
  EXPECT_THAT(side_latex(three), HasSubstr("  32 & 2 \\\\\n"));
  EXPECT_THAT(method_of(three), HasSubstr("over 3 processes; fewer than 6 have no 95 \\% interval."));
}

TEST(SideLatex, NamesHaveNoActiveCharacters) {
  Side side = with_facts(side_with("a", "step_time_s", {-0.5}));
  MeasuringProcess& process = side.processes[0];
  process.axes = {"batch_size", "kind"};
  process.info.set("axis_names", Info::List{"batch_size", "kind"});
  process.columns.push_back({.name = "kind", .kind = Kind::text});
  process.records[0].set("kind", std::string("%_&#~^\\{}$[x]*"));
  EXPECT_THAT(
      side_latex(side),
      AllOf(HasSubstr("\\begin{tabular}{rlr}\n"),
            HasSubstr("  32 & \\%\\_\\&\\#\\textasciitilde{}\\textasciicircum{}\\textbackslash{}\\{\\}\\${[}x{]}{*} & "
                      "$-$500 \\\\\n")));
}

TEST(SideLatex, DoubtsAndFailuresAreSaid) {
  Side side = with_facts(side_with("a", "step_time_s", {0.01}));
  MeasuringProcess& process = side.processes[0];
  process.records[0].set("quality", std::string("unreliable: 50 % lost"));
  process.records.push_back(
      {{"batch_size", std::int64_t{64}}, {"status", std::string("out_of_memory")}, {"detail", std::string("why")}});
  process.records.push_back({{"batch_size", std::int64_t{128}}, {"status", std::string("skipped")}});
  EXPECT_THAT(side_latex(side), HasSubstr("  32 & 10$^\\dagger$ \\\\\n  64 & --- \\\\\n  \\hline\n"));
  EXPECT_THAT(method_of(side), AllOf(HasSubstr(" $^\\dagger$ Unreliable: 50 \\% lost. Without figures: "),
                                     HasSubstr("batch\\_size=64 (out of memory). "), Not(HasSubstr("128"))));
}

TEST(SideLatex, FiguresAreChosen) {
  Side side = with_facts(side_with("a", "step_time_s", {0.01}));
  side.processes[0].columns.push_back(column_of("peak_memory_bytes"));
  side.processes[0].records[0].set("peak_memory_bytes", std::int64_t{3 << 20});
  EXPECT_THAT(side_latex(side, {.figures = {"peak_memory_bytes"}}),
              AllOf(HasSubstr("  batch size & peak memory (MiB) \\\\\n"), HasSubstr("  32 & 3 \\\\\n")));
  EXPECT_ERROR(HasSubstr("compare: unknown figure 'peak_memory' (known: peak_memory_bytes, step_time_s)"),
               side_latex(side, {.figures = {"peak_memory"}}));
}

TEST(SideLatex, NothingMeasuredIsAnError) {
  Side side = with_facts(side_with("one", "step_time_s", {0.01}));
  side.processes[0].records.clear();
  EXPECT_ERROR(HasSubstr("report: 'one' has no row that was measured"), side_latex(side));
}

}  // namespace
}  // namespace gpubench
