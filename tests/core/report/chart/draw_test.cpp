#include "core/report/chart/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/report/chart/gnuplot.h"
#include "core/report/page/page.h"
#include "core/results/append_file.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const ChartFormats all_formats{ChartFormat::svg, ChartFormat::png, ChartFormat::pdf};

class Draw : public ::testing::Test {
 protected:
  void SetUp() override {
    if (drawable_formats() != all_formats) GTEST_SKIP() << "gnuplot is not installed, or has no pngcairo or pdfcairo";
  }
  std::filesystem::path folder() const { return out_.path() / "plots/e/r"; }

 private:
  TemporaryDirectory out_;
};

gpubench::Run run_of(std::vector<Record> rows) {
  gpubench::Run run;
  run.columns = {column_of("point"),  column_of("process"), column_of("n"),      column_of("way"),
                 column_of("figure"), column_of("status"),  column_of("quality")};
  run.records = std::move(rows);
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    run.records[i].set("point", static_cast<std::int64_t>(i + 1));
    run.records[i].set("process", std::int64_t{0});
  }
  run.info = Info::Fields{{"axis_names", Info::List{"n", "way"}}};
  return run;
}

Record row(std::int64_t n, const std::string& way, double figure) {
  return {{"n", n}, {"way", way}, {"figure", figure}, {"status", std::string("ok")}};
}

const ChartSpec line_chart{.x = "n", .y = "figure", .series = "way"};
const ChartSpec bar_chart{.kind = ChartKind::bar, .x = "way", .y = "figure", .series = "n"};

TEST_F(Draw, NamesWithAnyCharacterAndTitlesOfAnyLength) {
  std::string ascii;
  for (char c = ' '; c < 0x7F; ++c) ascii += c;
  const std::vector<std::string> names{
      ascii.substr(0, 40), ascii.substr(40),       "line\nbreak\ttab",   "]]> <!-- & é ü ≤ 日本 \u202E",
      "\xFF\xFE",          "$(touch x) `touch x`", std::string(400, 'x')};
  std::vector<Record> rows;
  for (const std::string& name : names)
    for (const std::int64_t n : {1, 2}) rows.push_back(row(n, name, static_cast<double>(n)));
  ChartSpec named = line_chart;
  named.name = "../../n/" + std::string(300, 'a');
  named.title = std::string(400, 'W') + " " + ascii;
  const Drawing drawing = draw(run_of(rows), {named, bar_chart}, folder(), all_formats);
  EXPECT_THAT(drawing.notes, IsEmpty());
  ASSERT_EQ(drawing.charts.size(), 2u);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    const std::string text = read_file(entry.path());
    const std::string ending = entry.path().extension();
    const std::string begin = ending == ".png"   ? "\x89PNG"
                              : ending == ".pdf" ? "%PDF"
                              : ending == ".gp"  ? "#"
                                                 : "<?xml";
    EXPECT_THAT(text, StartsWith(begin));
    EXPECT_GT(text.size(), 1000u) << entry.path();
    const auto count = [&](std::string_view part) {
      std::size_t found = 0;
      for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
      return found;
    };
    EXPECT_EQ(count("<![CDATA["), ending == ".svg" ? count("]]>") : 0) << "a name would end a section";
    ++files;
  }
  EXPECT_EQ(files, 8u) << "script, svg, png and pdf of each";
  EXPECT_THAT(drawing.charts[0].svg, Not(HasSubstr("<!--")));
}

TEST_F(Draw, OnePointAndNone) {
  for (const ChartSpec& spec : {line_chart, bar_chart}) {
    for (const double figure : {0.0, -3.0, 1e-300, 1e300, 7.0}) {
      EXPECT_THAT(draw(run_of({row(1, "a", figure)}), {spec}, folder(), all_formats).notes, IsEmpty()) << figure;
      EXPECT_THAT(draw(run_of({row(0, "a", figure), row(0, "b", figure)}), {spec}, folder(), all_formats).notes,
                  IsEmpty())
          << figure;
    }
    Record failed = row(1, "a", 0);
    failed.set("status", std::string("error"));
    const Drawing drawing = draw(run_of({failed}), {spec}, folder(), all_formats);
    EXPECT_THAT(drawing.notes, testing::ElementsAre(HasSubstr("no row has both")));
    EXPECT_TRUE(drawing.charts.empty());
  }
  ChartSpec logarithmic = line_chart;
  logarithmic.log_x = 2;
  logarithmic.log_y = 10;
  EXPECT_THAT(draw(run_of({row(1, "a", 5)}), {logarithmic}, folder(), all_formats).notes, IsEmpty());
}

TEST_F(Draw, ThousandsOfRowsMakeAPageOfAFewMegabytes) {
  std::vector<Record> rows;
  for (std::int64_t n = 1; n <= 2500; ++n) {
    for (const char* way : {"a", "b"}) {
      rows.push_back(row(n, way, static_cast<double>(n * n)));
      rows.back().set("quality", std::string("unreliable: noise"));
    }
  }
  ChartSpec scattered{.kind = ChartKind::bar, .x = "n", .y = "figure"};
  const gpubench::Run run = run_of(std::move(rows));
  const Drawing drawing = draw(run, {line_chart, bar_chart, scattered}, folder(), {});
  for (const std::string& note : drawing.notes) EXPECT_THAT(note, HasSubstr("the report leaves out its picture"));
  ASSERT_EQ(drawing.charts.size(), 3u);
  EXPECT_EQ(drawing.charts[0].all_figures, 5000u);
  EXPECT_LE(drawing.charts[0].figures.rows.size(), 1000u);
  EXPECT_LT(report_page(run, drawing.charts).size(), 5'000'000u);
}

TEST_F(Draw, ChartsOfARunHaveOneHeightAndOneStyleForAValue) {
  std::vector<Record> rows;
  for (const char* way : {"a", "b", "c"}) rows.push_back(row(1, way, 1));
  rows.push_back(row(2, "c", 1));
  ChartSpec only_two = line_chart, labelled = bar_chart;
  only_two.where = {{"n", std::int64_t{2}}};
  labelled.title = "a title of so many words that it takes two lines of the chart and makes it higher";
  const Drawing drawing = draw(run_of(rows), {line_chart, only_two, labelled}, folder(), {});
  ASSERT_EQ(drawing.charts.size(), 3u);
  const auto size_of = [](const DrawnChart& chart) {
    const std::size_t at = chart.svg.find("viewBox");
    return chart.svg.substr(at, chart.svg.find('\n', at) - at);
  };
  EXPECT_EQ(size_of(drawing.charts[0]), size_of(drawing.charts[2]));
  EXPECT_THAT(read_file(folder() / "figure_by_n-2.gp"), HasSubstr("linestyle 3")) << "the third way has its own";
}

}  // namespace
}  // namespace gpubench
