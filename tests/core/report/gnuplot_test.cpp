#include "core/report/gnuplot.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/report/embedded_files.h"
#include "core/report/svg.h"
#include "core/results/append_file.h"
#include "tests/core/results/temporary_directory.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

Chart nasty_chart(const std::string& evil) {
  return {.spec = {.kind = ChartKind::line, .name = "nasty", .title = evil, .x = "x", .y = "y"},
          .x_label = evil,
          .y_label = evil,
          .categories = {evil, "100 %", "plain"},
          .series = {{evil, {{0, 1, Interval{0.5, 1.5}}, {1, 2, {}}, {2, 4, {}}}}, {"'; print 1", {{0, 2, {}}}}}};
}

// Draws a chart in a folder of its own; the SVG.
std::string draw(const Chart& chart, const TemporaryDirectory& out) {
  const auto folder = out.path() / "plots/e/r";
  std::filesystem::create_directories(folder);
  const auto script = folder / (chart.spec.name + ".gp");
  replace_file(script, gnuplot_script(chart));
  run_gnuplot(script);
  return read_file(folder / (chart.spec.name + ".svg"));
}

TEST(GnuplotScript, HoldsItsDataAndItsStyle) {
  const Chart chart{.spec = {.kind = ChartKind::line, .name = "c", .title = "t", .x = "x", .y = "y", .log_x = 2},
                    .x_label = "batch",
                    .y_label = "ms",
                    .categories = {},
                    .series = {{"cpu:0", {{1, 10, Interval{9, 11}}, {8, 12, Interval{11, 13}}}}}};
  EXPECT_EQ(gnuplot_script(chart),
            "# Made by gpubench. To draw it again, run gnuplot in this folder.\n"
            "chart_height = 434\n" +
                std::string(embedded::gnuplot_style) +
                "set output 'c.svg'\n"
                "set title 't'\nset xlabel 'batch'\nset ylabel 'ms'\n"
                "set logscale x 2\nset xrange [0.939523:8.51496]\nset xtics ('1' 1, '8' 8)\n"
                "$series1 << END\n1 10 9 11\n8 12 11 13\nEND\n"
                "plot $series1 using 1:2 with linespoints linestyle 1 title 'cpu:0', "
                "$series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 "
                "dashtype 1 notitle\n");
}

Chart line_over(std::vector<ChartPoint> points) {
  return {.spec = {.kind = ChartKind::line, .name = "c", .title = "t", .x = "x", .y = "y", .log_x = 10},
          .x_label = "x",
          .y_label = "y",
          .categories = {},
          .series = {{"cpu:0", std::move(points)}}};
}

TEST(GnuplotScript, TicksAreWrittenAsTheyWereSetAndDoNotRunIntoEachOther) {
  EXPECT_THAT(gnuplot_script(line_over({{0.0001, 1, {}}, {0.001, 1, {}}, {0.1, 1, {}}})),
              HasSubstr("set xtics ('0.0001' 0.0001, '0.001' 0.001, '0.1' 0.1)\n"));
  EXPECT_THAT(gnuplot_script(line_over({{6370, 1, {}}, {24655, 1, {}}, {25450, 1, {}}, {110510, 1, {}}})),
              HasSubstr("set xtics ('6370' 6370, '24655' 24655, '110510' 110510)\n"));
  EXPECT_THAT(gnuplot_script(line_over({{0.0014305, 1, {}}, {4e9, 1, {}}})),
              HasSubstr("set xtics ('0.00143' 0.0014305, '4 G' 4000000000)\n"));
  EXPECT_THAT(gnuplot_script(line_over({{4096, 1, {}, false, "4 KiB"}, {67108864, 1, {}, false, "64 MiB"}})),
              HasSubstr("set xtics ('4 KiB' 4096, '64 MiB' 67108864)\n"));
}

TEST(GnuplotScript, OneValueIsTheOnlyTick) {
  Chart chart = line_over({{1, 10, {}}});
  chart.spec.log_x = 0;
  EXPECT_THAT(gnuplot_script(chart), HasSubstr("set xrange [0:2]\nset xtics ('1' 1)\n"));
}

TEST(GnuplotScript, MarksUnreliablePointsAndNamesSeriesWithoutPoints) {
  Chart chart = line_over({{1, 10, {}, true}, {2, 20, {}, false}});
  chart.absent = {{"gpu:0", "out of memory"}, {"", "error"}};
  const std::string script = gnuplot_script(chart);
  EXPECT_THAT(script, AllOf(HasSubstr("$unreliable << END\n1 10\nEND\n"),
                            HasSubstr("$unreliable using 1:2 with points linestyle 9 title 'unreliable'"),
                            HasSubstr("keyentry with points linestyle 10 title 'gpu:0: no points (out of memory)'"),
                            HasSubstr("title 'no points (error)'")));
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_THAT(draw(chart, TemporaryDirectory()), AllOf(HasSubstr(">unreliable<"), HasSubstr("(out of memory)")));
}

TEST(GnuplotScript, FailedPointsSayWhyInTheirPlace) {
  Chart chart = line_over({{1, 10, {}}, {2, 20, {}}});
  chart.series[0].failed = {{8, "out of memory", "8 KiB"}};
  const std::string script = gnuplot_script(chart);
  EXPECT_THAT(script, AllOf(HasSubstr("set label 'out of memory' at first 8, graph 0.02 rotate by 90 left"),
                            HasSubstr("'2' 2, '8 KiB' 8)")));
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_THAT(draw(chart, TemporaryDirectory()), HasSubstr("out of memory"));
}

TEST(GnuplotScript, NoLineJoinsCategories) {
  Chart chart = line_over({{0, 10, {}}, {1, 20, {}}});
  chart.spec.log_x = 0;
  EXPECT_THAT(gnuplot_script(chart), HasSubstr("with linespoints"));
  chart.categories = {"1", "autotune"};
  EXPECT_THAT(gnuplot_script(chart),
              AllOf(HasSubstr("using 1:2 with points linestyle 1"), Not(HasSubstr("linespoints"))));
}

TEST(GnuplotScript, RingsStandOnTheirBars) {
  Chart chart{.spec = {.kind = ChartKind::bar, .name = "c", .title = "t", .x = "x", .y = "y"},
              .x_label = "x",
              .y_label = "y",
              .categories = {"a"},
              .series = {{"one", {{0, 1, {}}}}, {"two", {{0, 2, {}, true}}}}};
  EXPECT_THAT(gnuplot_script(chart), HasSubstr("$unreliable << END\n0.2 2\nEND\n"));
}

TEST(Gnuplot, TextOfAnyKindDrawsAndRunsNothing) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryDirectory out;
  // gnuplot runs in the chart's folder, so that is where the command would act.
  const std::string touched = out.path() / "plots/e/r/x";
  const std::string evil = "`touch x` \"q\" 'q', <script>alert(1)</script>\n@x {/Bold y} _a^b 5 % \\";
  for (const ChartKind kind : {ChartKind::line, ChartKind::bar}) {
    Chart chart = nasty_chart(evil);
    chart.spec.kind = kind;
    const std::string svg = draw(chart, out);
    EXPECT_THAT(svg, AllOf(HasSubstr("`touch x` "), HasSubstr("&lt;script"), HasSubstr("{/Bold y} _a^b 5 % \\<"),
                           HasSubstr("100 %"), Not(HasSubstr("<script"))));
  }
  EXPECT_FALSE(std::filesystem::exists(touched));
}

TEST(Gnuplot, ABadScriptIsAnErrorWithItsMessage) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryDirectory out;
  std::ofstream(out.path() / "bad.gp") << "plot nonsense\n";
  EXPECT_THAT([&] { run_gnuplot(out.path() / "bad.gp"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("gnuplot failed on '"), HasSubstr("undefined variable: nonsense"))));
}

TEST(Svg, FollowsTheThemeAndHasItsTitle) {
  const std::string svg =
      adapt_svg("<?xml?>\n<svg><title>Gnuplot</title>\n<g><title>gnuplot_plot_1</title></g></svg>", "a<b");
  EXPECT_THAT(svg, AllOf(HasSubstr("<title>a&lt;b</title>"), HasSubstr("prefers-color-scheme: dark"),
                         Not(HasSubstr("gnuplot_plot_1"))));
}

TEST(Svg, NamesAreUniqueInsideAPage) {
  EXPECT_EQ(
      inline_svg("<?xml?>\n<svg><g id='gpPt0'/><g id=\"gnuplot_canvas\"/><use xlink:href='#gpPt0'/></svg>", "c1_"),
      "<svg><g id='c1_gpPt0'/><g id=\"c1_gnuplot_canvas\"/><use xlink:href='#c1_gpPt0'/></svg>");
}

}  // namespace
}  // namespace gpubench
