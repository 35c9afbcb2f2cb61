#include "core/report/chart/gnuplot.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "core/codec/output_file.h"
#include "core/report/chart/point_labels.h"
#include "core/report/chart/svg.h"
#include "core/report/embedded_files.h"
#include "core/results/append_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

bool has_gnuplot() {
  return !drawable_formats().empty();
}

// Of a chart that was not made of rows.
Chart with_range(Chart chart) {
  bool first = true;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      const Interval one = point.interval.value_or(Interval{point.y, point.y});
      chart.y_range =
          first ? one : Interval{std::min(chart.y_range.low, one.low), std::max(chart.y_range.high, one.high)};
      first = false;
    }
  }
  return chart;
}

std::string script_of(const Chart& chart, const ChartFormats& formats = {ChartFormat::svg}) {
  return gnuplot_script(with_range(chart), chart_height(chart), formats);
}

Chart nasty_chart(const std::string& evil) {
  return {.spec = {.kind = ChartKind::line, .name = "nasty", .title = evil, .x = "x", .y = "y"},
          .x_label = evil,
          .y_label = evil,
          .categories = {evil, "100 %", "plain"},
          .series = {{evil, {{0, 1, Interval{0.5, 1.5}}, {1, 2, {}}, {2, 4, {}}}}, {"'; print 1", {{0, 2, {}}}}}};
}

// Draws a chart in a folder of its own; the SVG.
std::string drawn(const Chart& chart, const TemporaryDirectory& out, const ChartFormats& formats = {ChartFormat::svg}) {
  const auto folder = out.path() / "plots/e/r";
  std::filesystem::create_directories(folder);
  const auto script = folder / (chart.spec.name + ".gp");
  replace_file(script, script_of(chart, formats));
  run_gnuplot(script, script.parent_path());
  return read_file(folder / (chart.spec.name + ".svg"));
}

TEST(GnuplotScript, HoldsItsDataAndItsStyle) {
  const Chart chart{.spec = {.kind = ChartKind::line, .name = "c", .title = "t", .x = "x", .y = "y", .log_x = 2},
                    .x_label = "batch",
                    .y_label = "ms",
                    .categories = {},
                    .series = {{"cpu:0", {{1, 10, Interval{9, 11}}, {8, 12, Interval{11, 13}}}}}};
  EXPECT_EQ(script_of(chart),
            "# Made by gpubench. To draw it again, run gnuplot in this folder.\n" +
                std::string(embedded::gnuplot_style) +
                "set title 't'\nset xlabel 'batch, log scale'\nset ylabel 'ms'\n"
                "set logscale x 2\nset xrange [0.9395227492:8.51496146]\nset xtics ('1' 1, '8' 8)\n"
                "set yrange [8.76:13.24]\n"
                "$series1 << END\n1 10 9 11\n8 12 11 13\nEND\n" +
                terminal_command(ChartFormat::svg, 434) +
                "set output 'c.svg'\n"
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
  EXPECT_THAT(script_of(line_over({{0.0001, 1, {}}, {0.001, 1, {}}, {0.1, 1, {}}})),
              HasSubstr("set xtics ('0.0001' 0.0001, '0.001' 0.001, '0.1' 0.1)\n"));
  EXPECT_THAT(script_of(line_over({{6370, 1, {}}, {24655, 1, {}}, {25450, 1, {}}, {110510, 1, {}}})),
              HasSubstr("set xtics ('6370' 6370, '24655' 24655, '110510' 110510)\n"));
  EXPECT_THAT(script_of(line_over({{0.0014305, 1, {}}, {4e9, 1, {}}})),
              HasSubstr("set xtics ('0.00143' 0.0014305, '4 G' 4000000000)\n"));
  EXPECT_THAT(script_of(line_over({{4096, 1, {}, false, "4 KiB"}, {67108864, 1, {}, false, "64 MiB"}})),
              HasSubstr("set xtics ('4 KiB' 4096, '64 MiB' 67108864)\n"));
}

TEST(GnuplotScript, OneValueIsTheOnlyTick) {
  Chart chart = line_over({{1, 10, {}}});
  chart.spec.log_x = 0;
  EXPECT_THAT(script_of(chart), HasSubstr("set xrange [0:2]\nset xtics ('1' 1)\n"));
}

TEST(GnuplotScript, MarksUnreliablePointsAndNamesSeriesWithoutPoints) {
  Chart chart = line_over({{1, 10, {}, true}, {2, 20, {}, false}});
  chart.absent = {{"gpu:0", "out of memory"}, {"", "error"}};
  const std::string script = script_of(chart);
  EXPECT_THAT(script, AllOf(HasSubstr("$unreliable << END\n1 10\nEND\n"),
                            HasSubstr("$unreliable using 1:2 with points linestyle 9 title 'unreliable'"),
                            HasSubstr("keyentry with points linestyle 10 title 'gpu:0: no points (out of memory)'"),
                            HasSubstr("title 'no points (error)'")));
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_THAT(drawn(chart, TemporaryDirectory()), AllOf(HasSubstr(">unreliable<"), HasSubstr("(out of memory)")));
}

TEST(GnuplotScript, FailedPointsSayWhyInTheirPlace) {
  Chart chart = line_over({{1, 10, {}}, {2, 20, {}}});
  chart.series[0].failed = {{8, "out of memory", "8 KiB"}};
  const std::string script = script_of(chart);
  EXPECT_THAT(script, AllOf(HasSubstr("set label 'out of memory' at first 8, graph 0.02 rotate by 90 left"),
                            HasSubstr("'2' 2, '8 KiB' 8)")));
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_THAT(drawn(chart, TemporaryDirectory()), HasSubstr("out of memory"));
}

TEST(GnuplotScript, LinesThatLackTheSamePointSayItOnce) {
  Chart chart = line_over({{1, 10, {}}, {2, 20, {}}});
  chart.series.push_back({"cpu:1", {{1, 11, {}}}});
  for (ChartSeries& one : chart.series) one.failed = {{2, "error"}};
  const std::string script = script_of(chart);
  EXPECT_EQ(script.find("set label 'error'"), script.rfind("set label 'error'"));
}

TEST(GnuplotScript, NoLineJoinsCategories) {
  Chart chart = line_over({{0, 10, {}}, {1, 20, {}}});
  chart.spec.log_x = 0;
  EXPECT_THAT(script_of(chart), HasSubstr("with linespoints"));
  chart.categories = {"1", "autotune"};
  EXPECT_THAT(script_of(chart), AllOf(HasSubstr("using 1:2 with points linestyle 1"), Not(HasSubstr("linespoints"))));
}

TEST(GnuplotScript, RingsStandOnTheirBars) {
  Chart chart{.spec = {.kind = ChartKind::bar, .name = "c", .title = "t", .x = "x", .y = "y"},
              .x_label = "x",
              .y_label = "y",
              .categories = {"a"},
              .series = {{"one", {{0, 1, {}}}}, {"two", {{0, 2, {}, true}}}}};
  EXPECT_THAT(script_of(chart), HasSubstr("$unreliable << END\n0.2 2\nEND\n"));
}

TEST(GnuplotScript, LogarithmicAxesSaySo) {
  Chart chart = line_over({{1, 10, {}}, {2, 20, {}}});
  chart.x_label = "parameters";
  chart.at_points = "; at the points: width";
  EXPECT_THAT(script_of(chart), AllOf(HasSubstr("set xlabel 'parameters, log scale; at the points: width'\n"),
                                      HasSubstr("set ylabel 'y'\n")));
  chart.spec.log_y = 10;
  EXPECT_THAT(script_of(chart), HasSubstr("set ylabel 'y, log scale'\n"));
  chart.x_label = "examples/s (thousand)";
  chart.at_points = "; at the points: batch size";
  EXPECT_THAT(script_of(chart), HasSubstr("set xlabel 'examples/s (thousand), log; at the points: batch size'\n"));
}

TEST(GnuplotScript, AComputedXHasRoundTicksAndAnAxisItsOwnValues) {
  Chart chart = line_over({{2.06, 10, {}}, {9.96, 20, {}}, {21.7, 30, {}}});
  EXPECT_THAT(script_of(chart), HasSubstr("set xtics ('2.06' 2.06, '9.96' 9.96, '21.7' 21.7)\n"));
  chart.at_points = "; at the points: batch size";
  EXPECT_THAT(script_of(chart), HasSubstr("set xtics ('2' 2, '3' 3, '5' 5, '7' 7, '10' 10, '20' 20)\n"));
}

TEST(GnuplotScript, BarsThatAreTooLowToBeSeenHaveTheirFigure) {
  Chart chart{.spec = {.kind = ChartKind::bar, .name = "c", .title = "t", .x = "x", .y = "y"},
              .x_label = "x",
              .y_label = "y",
              .categories = {"a", "b"},
              .series = {{"one", {{0, 0, {}}, {1, 90, {}}}}, {"two", {{0, 0.25, {}}, {1, 0.9, {}}}}}};
  EXPECT_THAT(script_of(chart), AllOf(HasSubstr("set label '0' at first -0.2, first 0 center offset 0,0.6"),
                                      HasSubstr("set label '0.25' at first 0.2, first 0"),
                                      Not(HasSubstr("label '0.9'")), Not(HasSubstr("label '90'"))));
  chart.series.resize(6, chart.series[1]);
  chart.series[3].points[0].y = 0.125;
  EXPECT_THAT(script_of(chart),
              AllOf(HasSubstr("set label '0 to 0.25' at first 0, first 0 center"), Not(HasSubstr("set label '0.25'"))))
      << "figures that would overlap stand together";
  chart.spec.kind = ChartKind::line;
  EXPECT_THAT(script_of(chart), Not(HasSubstr("set label '0")));
}

TEST(GnuplotScript, AHeatMapHasItsFiguresInTheCellsAndDarkerOnesForMore) {
  Chart chart{
      .spec = {.kind = ChartKind::heat, .name = "c", .title = "t", .x = "x", .y = "y", .series = "s"},
      .x_label = "rate",
      .y_label = "accuracy (%)",
      .categories = {"0.1", "1"},
      .series = {{"batch 8", {{0, 10, {}}, {1, 90, {}, true}}}, {"batch \"16\"", {{0, 50, {}}}, {{1, "timeout"}}}},
      .absent = {{"batch 32", "out of memory"}}};
  const std::string script = script_of(chart);
  EXPECT_THAT(script, AllOf(HasSubstr("set xlabel 'rate; in the cells: accuracy (%)'"),
                            HasSubstr("set ytics ('batch 8' 2, 'batch \"16\"' 1, 'batch 32' 0)"),
                            HasSubstr("0 2 \"10\"\n1 2 \"90\"\n0 1 \"50\"\n1 1 \"timeout\"\n0.5 0 \"out of memory\"\n"),
                            HasSubstr("solid 0.060 noborder"), HasSubstr("solid 0.280 noborder"),
                            HasSubstr("solid 0.500 noborder"), HasSubstr("$unreliable << END\n1.4 2.3\nEND")));
  EXPECT_THAT(script, Not(HasSubstr("linespoints")));
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_THAT(drawn(chart, TemporaryDirectory()), AllOf(HasSubstr(">timeout<"), HasSubstr(">90<")));
}

std::vector<std::string> ticks_of(double low, double high, double base) {
  Chart chart = line_over({{1, low, {}}, {2, high, {}}});
  chart.spec.log_y = base;
  const std::string script = script_of(chart);
  const std::size_t at = script.find("set ytics (") + 11;
  std::vector<std::string> ticks;
  std::istringstream text(script.substr(at, script.find(')', at) - at));
  for (std::string one; std::getline(text, one, ',');) ticks.push_back(one.substr(one.find('\'') + 1));
  for (std::string& one : ticks) one.erase(one.find('\''));
  return ticks;
}

TEST(GnuplotScript, LogarithmicAxesOfAFewDecadesHaveLabelsBetweenThePowers) {
  using ::testing::ElementsAre;
  EXPECT_THAT(ticks_of(2.2, 40, 10), ElementsAre("2", "5", "10", "20"));
  EXPECT_THAT(ticks_of(21, 44, 10), ElementsAre("30", "40"));
  EXPECT_THAT(ticks_of(1, 1e5, 10), ElementsAre("1", "10", "100", "1000", "10000", "100000"));
  EXPECT_THAT(ticks_of(1, 16, 2), ElementsAre("1", "2", "4", "8", "16"));
  EXPECT_THAT(ticks_of(100, 103, 10), ElementsAre("100", "102", "104"));
  EXPECT_LE(ticks_of(1e-9, 1e20, 10).size(), 11u);
}

TEST(GnuplotScript, AxesOfTheLargestAndSmallestNumbersHaveFewTicks) {
  for (const double base : {2.0, 10.0, 1.0001}) {
    for (const auto& [low, high] : {std::pair{5e-324, 1e308}, std::pair{1e308, 1.7e308}, std::pair{5e-324, 1e-322},
                                    std::pair{1e16, 1e16 + 4}, std::pair{1.0, 1e308}})
      EXPECT_LE(ticks_of(low, high, base).size(), 20u) << base << ": " << low << " to " << high;
  }
  for (const double log : {0.0, 10.0}) {
    for (const auto& [first, last] :
         {std::pair{-1.7e308, 1.7e308}, std::pair{1.7e308, 1.7e308}, std::pair{5e-324, 1e308}}) {
      Chart chart = line_over({{first, first, {}}, {last, last, {}}});
      chart.spec.log_x = chart.spec.log_y = first > 0 ? log : 0;
      const std::string script = script_of(chart);
      EXPECT_THAT(script, AllOf(Not(HasSubstr("[inf")), Not(HasSubstr(":inf]")), Not(HasSubstr("nan:"))));
      if (has_gnuplot()) {
        EXPECT_NO_THROW(drawn(chart, TemporaryDirectory())) << script;
      }
    }
  }
}

TEST(GnuplotScript, BoundsAndKneesAreLines) {
  Chart chart = line_over({{1, 10, {}}, {2, 20, {}}});
  chart.limits = {15};
  chart.marks = {{2, "knee"}};
  EXPECT_THAT(script_of(chart), AllOf(HasSubstr("set arrow from graph 0, first 15 to graph 1, first 15 nohead"),
                                      HasSubstr("set label 'limit 15' at graph 0.99, first 15 right"),
                                      HasSubstr("set arrow from first 2, graph 0 to first 2, graph 1 nohead"),
                                      HasSubstr("set label 'knee'")));
}

TEST(GnuplotScript, LongTitlesTakeTwoLines) {
  Chart chart = line_over({{1, 10, {}}});
  const std::size_t height = chart_height(chart);
  chart.spec.title = "Efficiency with as many examples for each replica, processes: 2";
  EXPECT_THAT(script_of(chart), HasSubstr("set title 'Efficiency with as many examples for each replica,'.\"\\n\"."));
  EXPECT_GT(chart_height(chart), height);
  chart.spec.title = std::string(400, 'x');
  EXPECT_THAT(script_of(chart), HasSubstr("set title '" + std::string(57, 'x') + "…'\n"));
}

TEST(GnuplotScript, ALineOfThousandsOfPointsHasNoMarks) {
  std::vector<ChartPoint> points;
  for (int i = 1; i <= 5000; ++i) points.push_back({static_cast<double>(i), 1, Interval{0.5, 2}, true});
  EXPECT_THAT(script_of(line_over(points)),
              AllOf(HasSubstr("with lines linestyle 1"), Not(HasSubstr("vectors")), Not(HasSubstr("'unreliable'"))));
}

TEST(PointLabels, StandBesideTheLines) {
  Chart chart = line_over({{0, 0, {}}, {1, 10, {}, false, "", "middle"}, {2, 20, {}}});
  chart.spec.log_x = 0;
  // Steep lines from both sides meet above the point: there is no room above it.
  chart.series.push_back({"other", {{0.5, 20, {}}, {1, 11.5, {}}, {1.5, 20, {}}}});
  const std::vector<PointLabel> labels = place_labels(with_range(chart));
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_LT(labels[0].up, 0) << "below";
  EXPECT_GE(labels[0].side, 0) << "the line goes down to the left";
}

TEST(PointLabels, CoverNeitherEachOtherNorPoints) {
  Chart chart = line_over({});
  chart.spec.log_x = 0;
  chart.is_scatter = true;
  chart.series.clear();
  for (const char* name : {"int8", "int8_aware", "small", "distilled"})
    chart.series.push_back({name, {{0.45, 90, {}, false, "", name}}});
  chart.series.push_back({"original", {{0.9, 92, {}, false, "", "original"}}});
  const std::vector<PointLabel> labels = place_labels(with_range(chart));
  ASSERT_EQ(labels.size(), 5u);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t k = 0; k < i; ++k) EXPECT_FALSE(labels[i].up == labels[k].up && labels[i].side == labels[k].side);
  }
  EXPECT_EQ(labels[4].side, -1) << "it would leave the plot on the right";
  chart.is_scatter = false;
  chart.series.assign(1, {"one", std::vector<ChartPoint>(20, {0.45, 90, {}, false, "", "label"})});
  EXPECT_LT(place_labels(with_range(chart)).size(), 12u) << "what finds no room is left out";
}

TEST(Gnuplot, DrawsAllFormatsBesideEachOther) {
  const ChartFormats formats = drawable_formats();
  if (formats.size() < 3) GTEST_SKIP() << "gnuplot is not installed, or has no pngcairo or pdfcairo";
  const TemporaryDirectory out;
  Chart chart = nasty_chart("`touch x` \"q\" 'q', <b>\n@x {/Bold y} _a^b 5 % \\ ]]> äöü 日本 ≤");
  for (const ChartKind kind : {ChartKind::line, ChartKind::bar}) {
    chart.spec.kind = kind;
    EXPECT_THAT(drawn(chart, out, formats), HasSubstr("<svg"));
    EXPECT_THAT(read_file(out.path() / "plots/e/r/nasty.png"), testing::StartsWith("\x89PNG"));
    EXPECT_THAT(read_file(out.path() / "plots/e/r/nasty.pdf"), testing::StartsWith("%PDF"));
  }
  EXPECT_FALSE(std::filesystem::exists(out.path() / "plots/e/r/x"));
}

TEST(ChartFormats, UnknownOnesAreRefused) {
  EXPECT_ERROR("unknown format of charts 'gif' (known: svg, png, pdf)", parse_chart_format("gif"));
}

TEST(Gnuplot, TextOfAnyKindDrawsAndRunsNothing) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryDirectory out;
  // gnuplot runs in the chart's folder, so that is where the command would act.
  const std::string touched = out.path() / "plots/e/r/x";
  const std::string evil = "`touch x` \"q\" 'q', <script>alert(1)</script>\n@x {/Bold y} _a^b 5 % \\";
  for (const ChartKind kind : {ChartKind::line, ChartKind::bar}) {
    Chart chart = nasty_chart(evil);
    chart.spec.kind = kind;
    const std::string svg = drawn(chart, out);
    EXPECT_THAT(svg, AllOf(HasSubstr("`touch x` "), HasSubstr("&lt;script"), HasSubstr("{/Bold y}<"),
                           HasSubstr(">_a^b 5 % \\<"), HasSubstr("100 %"), Not(HasSubstr("<script"))));
  }
  EXPECT_FALSE(std::filesystem::exists(touched));
}

TEST(Gnuplot, ABadScriptIsAnErrorWithItsMessage) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryDirectory out;
  std::ofstream(out.path() / "bad.gp") << "plot nonsense\n";
  EXPECT_ERROR(AllOf(HasSubstr("gnuplot failed on '"), HasSubstr("undefined variable: nonsense")),
               run_gnuplot(out.path() / "bad.gp", out.path()));
}

TEST(Svg, FollowsTheThemeAndHasItsTitle) {
  const std::string svg =
      adapt_svg("<?xml?>\n<svg><title>Gnuplot</title>\n<g><title>gnuplot_plot_1</title></g></svg>", "a<b");
  EXPECT_THAT(svg, AllOf(HasSubstr("<title>a&lt;b</title>"), HasSubstr("prefers-color-scheme: dark"),
                         Not(HasSubstr("gnuplot_plot_1"))));
}

TEST(Svg, NamesAreUniqueInsideAPage) {
  EXPECT_EQ(inline_svg("<?xml?>\n<svg><g id='gpPt0'/><g "
                       "id=\"gnuplot_canvas\"/><use xlink:href='#gpPt0'/><a fill='url(#gpPat4)'/></svg>",
                       "c1_"),
            "<svg><g id='c1_gpPt0'/><g "
            "id=\"c1_gnuplot_canvas\"/><use xlink:href='#c1_gpPt0'/><a fill='url(#c1_gpPat4)'/></svg>");
}

}  // namespace
}  // namespace gpubench
