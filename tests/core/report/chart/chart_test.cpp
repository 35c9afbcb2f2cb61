#include "core/report/chart/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::vector<ChartAxis> chart_axes{{.name = "device"}, {.name = "batch"}};

std::vector<Column> columns() {
  std::vector<Column> all(standard_columns().begin(), standard_columns().end());
  all.push_back(column_of("batch"));
  return all;
}

Record row(const std::string& device, std::int64_t batch, double step_time) {
  return {{"device", device},
          {"batch", batch},
          {"status", std::string("ok")},
          {"examples_per_s", static_cast<double>(batch) / step_time},
          {"examples_low_per_s", static_cast<double>(batch) / (1.3 * step_time)},
          {"examples_high_per_s", static_cast<double>(batch) / (0.8 * step_time)},
          {"step_time_s", step_time},
          {"step_time_low_s", 0.9 * step_time},
          {"step_time_high_s", 1.25 * step_time}};
}

std::vector<Record> rows() {
  return {row("cpu:0", 8, 0.002),
          row("cpu:0", 1, 0.001),
          row("cpu:1", 1, 0.004),
          {{"device", std::string("cpu:1")}, {"batch", std::int64_t{8}}, {"status", std::string("error")}}};
}

TEST(Chart, SeriesAreSortedAndScaledWithTheirIntervals) {
  const Chart chart = make_chart({.x = "batch", .y = "step_time_s", .series = "device"}, columns(), rows(), chart_axes);
  EXPECT_EQ(chart.spec.name, "step_time_s_by_batch");
  EXPECT_EQ(chart.spec.title, "step time by batch");
  EXPECT_EQ(chart.y_label, "step time (ms)");
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[0].name, "cpu:0");
  ASSERT_EQ(chart.series[0].points.size(), 2u);
  EXPECT_EQ(chart.series[0].points[0].x, 1);
  EXPECT_DOUBLE_EQ(chart.series[0].points[1].y, 2);
  EXPECT_DOUBLE_EQ(chart.series[0].points[1].interval->low, 1.8);
  EXPECT_EQ(chart.series[1].points.size(), 1u);  // the failed row is not drawn
  EXPECT_TRUE(chart.categories.empty());
}

TEST(Chart, MeasuredPointsWithoutTheFigureAreCounted) {
  std::vector<Record> some = rows();
  some.push_back({{"device", std::string("cpu:0")}, {"batch", std::int64_t{16}}, {"status", std::string("ok")}});
  some.push_back({{"device", std::string("cpu:0")}, {"batch", std::int64_t{32}}});
  some.push_back({{"device", std::string("cpu:0")}, {"batch", std::int64_t{64}}, {"status", std::string("skipped")}});
  some.push_back({{"device", std::string("gpu:0")}, {"batch", std::int64_t{16}}, {"status", std::string("ok")}});
  const Chart chart = make_chart({.x = "batch", .y = "step_time_s", .series = "device"}, columns(), some, chart_axes);
  ASSERT_EQ(chart.without_figure.size(), 1u);
  EXPECT_EQ(chart.without_figure[0].points, 2u) << "gpu:0 is listed as absent";
  EXPECT_EQ(chart.without_figure[0].figure, "step time");
  EXPECT_EQ(chart.without_figure[0].reason, "median wall time of a step, input included");
  EXPECT_TRUE(make_chart({.x = "batch", .y = "step_time_s"}, columns(), rows(), chart_axes).without_figure.empty());
}

TEST(Chart, AFigureOfTheScriptIsMissingForWhatTheRowSays) {
  std::vector<Column> own = columns();
  own.push_back(column_of("margin"));
  std::vector<Record> some = rows();
  some[0].set("margin", 0.5);
  some[1].set("detail", std::string("no margin: one class only"));
  const Chart chart = make_chart({.x = "batch", .y = "margin", .series = "device"}, own, some, chart_axes);
  ASSERT_EQ(chart.without_figure.size(), 1u);
  EXPECT_EQ(chart.without_figure[0].reason, "no margin: one class only");
}

TEST(Chart, PointsThatFailedKeepTheirPlaceAndSayWhy) {
  std::vector<Record> some = rows();
  some.back().set("status", std::string("out_of_memory"));
  const Chart chart = make_chart({.x = "batch", .y = "step_time_s", .series = "device"}, columns(), some, chart_axes);
  EXPECT_TRUE(chart.series[0].failed.empty());
  ASSERT_EQ(chart.series[1].failed.size(), 1u);
  EXPECT_EQ(chart.series[1].failed[0].x, 8);
  EXPECT_EQ(chart.series[1].failed[0].reason, "out of memory");
  const Chart bars = make_chart({.kind = ChartKind::bar, .x = "batch", .y = "step_time_s", .series = "device"},
                                columns(), some, chart_axes);
  EXPECT_EQ(bars.series[1].failed[0].x, 1) << "the place of its category, 8";
  some.back().set("status", std::string("skipped"));
  EXPECT_TRUE(make_chart({.x = "batch", .y = "step_time_s", .series = "device"}, columns(), some, chart_axes)
                  .series[1]
                  .failed.empty());
}

TEST(Chart, AFilterIsPartOfTheTitle) {
  const Record where{{"device", std::string("cpu:0")}};
  const auto titled = [&](const std::string& title) {
    return make_chart({.title = title, .x = "batch", .y = "step_time_s", .where = where}, columns(), rows(), chart_axes)
        .spec.title;
  };
  EXPECT_EQ(titled(""), "step time by batch (device cpu:0)");
  EXPECT_EQ(titled("mine"), "mine");
}

TEST(Chart, RatesHaveTheirOwnIntervals) {
  const Chart chart =
      make_chart({.x = "batch", .y = "examples_per_s", .series = "device"}, columns(), rows(), chart_axes);
  const ChartPoint& point = chart.series[0].points[0];  // 1000/s, in thousands
  EXPECT_DOUBLE_EQ(point.interval->low, 1 / 1.3);
  EXPECT_DOUBLE_EQ(point.interval->high, 1 / 0.8);
  EXPECT_EQ(chart.y_label, "examples/s (thousand)");
}

TEST(Chart, AnyColumnMayHaveAnInterval) {
  std::vector<Column> with_ends = columns();
  with_ends.push_back(column_of("gap_s"));
  std::vector<Record> gaps = rows();
  for (Record& one : gaps) {
    one.set("gap_s", 2.0);
    one.set("gap_low_s", 1.0);
    one.set("gap_high_s", 4.0);
  }
  const Chart chart = make_chart({.x = "batch", .y = "gap_s", .series = "device"}, with_ends, gaps, chart_axes);
  EXPECT_EQ(chart.series[0].points[0].interval, (Interval{1, 4}));
}

TEST(Chart, AxesThatAreNotNamedMakeSeriesToo) {
  const Chart chart = make_chart({.x = "batch", .y = "step_time_s"}, columns(), rows(), chart_axes);
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[0].name, "device cpu:0");
}

TEST(Chart, OnlyRowsThatAreMeantAreDrawnOrMissed) {
  const auto drawn = [](const Record& where) {
    return make_chart({.x = "device", .y = "step_time_s", .where = where}, columns(), rows(), chart_axes);
  };
  const Chart small = drawn({{"batch", std::int64_t{1}}});
  EXPECT_EQ(small.categories, (std::vector<std::string>{"cpu:0", "cpu:1"}));
  ASSERT_EQ(small.series.size(), 1u);  // the other axis does not vary
  EXPECT_EQ(small.series[0].points.size(), 2u);
  EXPECT_TRUE(small.absent.empty());
  EXPECT_EQ(drawn({{"batch", std::int64_t{8}}, {"device", std::string("cpu:0")}}).series[0].points.size(), 1u);
  EXPECT_ERROR(HasSubstr("no row with batch=2 has both device and step_time_s"), drawn({{"batch", std::int64_t{2}}}));
  EXPECT_ERROR(HasSubstr("no column 'bach' for where"), drawn({{"bach", std::int64_t{2}}}));
}

TEST(Chart, UnreliablePointsAreMarkedWhereTheirQualityMatters) {
  std::vector<Record> some = rows();
  some[0].set("quality", std::string("unreliable: noise"));
  some[1].set("quality", std::string("ok"));
  for (Record& one : some) one.set("loss", 0.5);
  const auto points = [&](const char* y) {
    return make_chart({.x = "batch", .y = y, .series = "device"}, columns(), some, chart_axes).series[0].points;
  };
  EXPECT_FALSE(points("step_time_s")[0].unreliable);
  EXPECT_TRUE(points("step_time_s")[1].unreliable);
  EXPECT_FALSE(points("loss")[1].unreliable);
}

TEST(Chart, ASeriesWithoutPointsIsNamedWithItsReasons) {
  std::vector<Record> some = rows();
  for (const char* status : {"out_of_memory", "timeout", "timeout", "ok"}) {
    some.push_back({{"device", std::string("gpu:0")}, {"batch", std::int64_t{8}}, {"status", std::string(status)}});
  }
  const Chart chart = make_chart({.x = "batch", .y = "step_time_s", .series = "device"}, columns(), some, chart_axes);
  EXPECT_EQ(chart.series.size(), 2u);
  ASSERT_EQ(chart.absent.size(), 1u);  // cpu:1 has another point
  EXPECT_EQ(chart.absent[0].name, "gpu:0");
  EXPECT_EQ(chart.absent[0].reason, "out of memory, timeout, no step time");
}

TEST(Chart, AComputedXStandsForTheAxisThatItFollows) {
  std::vector<Column> with_size = columns();
  with_size.push_back(column_of("used_bytes"));
  std::vector<Record> some;
  for (const char* device : {"cpu:0", "cpu:1"}) {
    for (const std::int64_t batch : {1, 2, 4}) {
      some.push_back(row(device, batch, 0.001));
      some.back().set("used_bytes", batch * 2048);
    }
  }
  const Chart chart = make_chart({.x = "used_bytes", .y = "step_time_s"}, with_size, some, chart_axes);
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[0].name, "device cpu:0");
  ASSERT_EQ(chart.series[0].points.size(), 3u);
  EXPECT_EQ(chart.x_label, "used (KiB)");
  EXPECT_EQ(chart.at_points, "; at the points: batch");
  EXPECT_EQ(chart.series[0].points[2].x, 8);
}

TEST(Chart, ALogarithmicAxisOfManyMagnitudesNamesEachValueWithItsUnit) {
  std::vector<Column> with_size = columns();
  with_size.push_back(column_of("data_bytes"));
  std::vector<Record> some;
  for (const std::int64_t bytes : {4096, 1 << 20, 64 << 20}) {
    some.push_back(row("cpu:0", 1, 0.001));
    some.back().set("data_bytes", bytes);
  }
  const Chart chart = make_chart({.x = "data_bytes", .y = "step_time_s", .log_x = 2}, with_size, some, {});
  EXPECT_EQ(chart.x_label, "data bytes");
  ASSERT_EQ(chart.series[0].points.size(), 3u);
  EXPECT_EQ(chart.series[0].points[0].x, 4096);
  EXPECT_EQ(chart.series[0].points[0].x_text, "4 KiB");
  EXPECT_EQ(chart.series[0].points[2].x_text, "64 MiB");
  some.erase(some.begin());  // one unit will do
  EXPECT_EQ(make_chart({.x = "data_bytes", .y = "step_time_s", .log_x = 2}, with_size, some, {}).x_label, "data (MiB)");
}

TEST(Chart, TextAndBarsMakeCategories) {
  const Chart bars = make_chart({.kind = ChartKind::bar, .x = "batch", .y = "step_time_s", .series = "device"},
                                columns(), rows(), chart_axes);
  EXPECT_EQ(bars.categories, (std::vector<std::string>{"1", "8"}));
  const Chart line = make_chart({.x = "device", .y = "step_time_s", .series = "batch"}, columns(), rows(), chart_axes);
  EXPECT_EQ(line.categories, (std::vector<std::string>{"cpu:0", "cpu:1"}));
  EXPECT_EQ(line.series[0].name, "batch 1");  // a number says of what
}

TEST(Chart, AHeatMapHasARowForEachSeries) {
  const Chart heat = make_chart({.kind = ChartKind::heat, .x = "batch", .y = "step_time_s", .series = "device"},
                                columns(), rows(), chart_axes);
  EXPECT_EQ(heat.categories, (std::vector<std::string>{"1", "8"}));
  ASSERT_EQ(heat.series.size(), 2u);
  EXPECT_EQ(heat.series[1].points.size() + heat.series[1].failed.size(), 2u);
  EXPECT_EQ(heat.spec.title, "step time by batch and device");
}

TEST(Chart, SeriesAndCategoriesHaveTheOrderOfTheirAxis) {
  const std::vector<ChartAxis> axes{{"device", {std::string("gpu:0"), std::string("cpu:0"), std::string("cpu:1")}},
                                    {"batch", {std::int64_t{1}, std::int64_t{8}}}};
  const Chart lines = make_chart({.x = "batch", .y = "step_time_s", .series = "device"}, columns(),
                                 std::vector<Record>{row("cpu:1", 1, 1), row("cpu:0", 1, 1), row("gpu:0", 8, 1)}, axes);
  ASSERT_EQ(lines.series.size(), 3u);
  EXPECT_EQ(lines.series[0].name, "gpu:0");
  EXPECT_EQ(lines.series[2].name, "cpu:1");
  const Chart bars =
      make_chart({.kind = ChartKind::bar, .x = "device", .y = "step_time_s", .series = "batch"}, columns(),
                 std::vector<Record>{row("cpu:1", 8, 1), row("cpu:0", 1, 1), row("gpu:0", 8, 1)}, axes);
  EXPECT_EQ(bars.categories, (std::vector<std::string>{"gpu:0", "cpu:0", "cpu:1"}));
  EXPECT_EQ(bars.series[0].name, "batch 1");
  EXPECT_EQ(bars.series[0].points[0].x, 1);
}

TEST(Chart, PanelsHaveOneScale) {
  const auto panel = [](const char* device) {
    return make_chart({.x = "batch",
                       .y = "step_time_s",
                       .where = {{"device", std::string(device)}},
                       .each = "device",
                       .limits = {0.005}},
                      columns(), rows(), chart_axes);
  };
  const Chart first = panel("cpu:0"), second = panel("cpu:1");
  EXPECT_EQ(first.y_range, second.y_range);
  EXPECT_DOUBLE_EQ(first.y_range.low, 0.9);
  EXPECT_EQ(first.y_range.high, 5);
  EXPECT_EQ(first.y_label, second.y_label);
  EXPECT_EQ(first.limits, (std::vector<double>{5}));
  EXPECT_EQ(second.series[0].points.size(), 1u);
}

TEST(Chart, LinesGoInTheOrderOfTheAxisThatXFollows) {
  std::vector<Record> some;
  // The rate rises and falls again: in the order of x the line would go back and forth.
  for (const auto& [batch, seconds] : {std::pair{1, 0.001}, {2, 0.001}, {4, 0.008}})
    some.push_back(row("cpu:0", batch, seconds));
  ChartSpec spec{.x = "examples_per_s", .y = "step_time_s", .log_x = 10};
  const auto labels_of = [](const Chart& chart) {
    std::vector<std::string> labels;
    for (const ChartPoint& point : chart.series[0].points) labels.push_back(point.label);
    return labels;
  };
  const Chart chart = make_chart(spec, columns(), some, chart_axes);
  EXPECT_EQ(labels_of(chart), (std::vector<std::string>{"1", "2", "4"}));
  EXPECT_EQ(chart.x_label, "examples/s (thousand)");
  EXPECT_EQ(chart.at_points, "; at the points: batch");
  spec.order = "batch";
  EXPECT_EQ(labels_of(make_chart(spec, columns(), some, {})), (std::vector<std::string>{"1", "2", "4"}));
  spec.order = "bacth";
  EXPECT_ERROR(HasSubstr("no column 'bacth' for order"), make_chart(spec, columns(), some, {}));
}

TEST(Chart, SeriesOfOnePointHaveTheirNamesBesideThem) {
  const Chart chart = make_chart({.x = "batch", .y = "step_time_s", .series = "device"}, columns(),
                                 std::vector<Record>{row("cpu:0", 1, 1), row("cpu:1", 1, 2)}, chart_axes);
  EXPECT_TRUE(chart.is_scatter);
  EXPECT_EQ(chart.series[1].points[0].label, "cpu:1");
  EXPECT_FALSE(
      make_chart({.x = "batch", .y = "step_time_s", .series = "device"}, columns(), rows(), chart_axes).is_scatter);
}

TEST(Chart, AFigureThatALogarithmDoesNotHaveIsSaidInItsPlace) {
  std::vector<Record> some = rows();
  some[0].set("step_time_s", 0.0);
  const Chart chart =
      make_chart({.x = "batch", .y = "step_time_s", .series = "device", .log_y = 10}, columns(), some, chart_axes);
  ASSERT_EQ(chart.series[0].failed.size(), 1u);
  EXPECT_EQ(chart.series[0].failed[0].x, 8);
  EXPECT_THAT(chart.series[0].failed[0].reason, HasSubstr("0"));
  for (Record& one : some) one.set("step_time_s", -1.0);
  EXPECT_ERROR("no step_time_s is above zero, as log_y needs it",
               make_chart({.x = "batch", .y = "step_time_s", .log_y = 10}, columns(), some, chart_axes));
  some = rows();
  some[0].set("batch", std::int64_t{0});
  EXPECT_EQ(make_chart({.x = "batch", .y = "step_time_s", .log_x = 2}, columns(), some, chart_axes).spec.log_x, 0);
}

TEST(Chart, KneesStandAtTheirX) {
  const Chart chart =
      make_chart({.x = "batch", .y = "step_time_s", .knees = {std::int64_t{8}}}, columns(), rows(), chart_axes);
  EXPECT_EQ(chart.marks, (std::vector<PlacedMark>{{8, "knee"}}));
  const Chart text = make_chart({.x = "device", .y = "step_time_s", .knees = {std::string("cpu:1"), true}}, columns(),
                                rows(), chart_axes);
  EXPECT_EQ(text.marks, (std::vector<PlacedMark>{{1, "knee"}})) << "there is no category 'true'";
}

TEST(Chart, AValueOfASeriesHasOneStyleInAllCharts) {
  const std::vector<Record> all = rows();
  std::vector<Chart> charts;
  for (const Record& where : {Record{{"batch", std::int64_t{8}}}, Record{{"batch", std::int64_t{1}}}, Record{}})
    charts.push_back(
        make_chart({.x = "batch", .y = "step_time_s", .series = "device", .where = where}, columns(), all, chart_axes));
  charts.push_back(make_chart({.x = "batch", .y = "step_time_s", .where = {{"device", std::string("cpu:1")}}},
                              columns(), all, chart_axes));
  assign_styles(charts);
  EXPECT_EQ(charts[0].series.size(), 1u);
  for (const int i : {0, 1, 2}) EXPECT_EQ(charts[static_cast<std::size_t>(i)].series[0].style, 0u);
  EXPECT_EQ(charts[1].series[1].style, 1u);
  EXPECT_EQ(charts[2].series[1].style, 1u);
  EXPECT_EQ(charts[3].series[0].style, 1u) << "cpu:1, which `where` chose";
}

TEST(Chart, AStyleIsThatOfASettingWhateverTheOrderOfItsColumns) {
  std::vector<Record> some;
  for (const char* device : {"cpu:0", "cpu:1"}) {
    for (const std::int64_t batch : {1, 8}) {
      some.push_back(row(device, batch, 0.001));
      some.back().set("depth", batch);
    }
  }
  std::vector<Column> with_depth = columns();
  with_depth.push_back(column_of("depth"));
  const std::vector<ChartAxis> axes{{.name = "device"}, {.name = "batch"}, {.name = "depth"}};
  std::vector<Chart> charts;
  for (const char* series : {"device", "batch"})
    charts.push_back(make_chart({.x = "depth", .y = "step_time_s", .series = series}, with_depth, some, axes));
  assign_styles(charts);
  ASSERT_EQ(charts[1].series.size(), 4u);
  EXPECT_EQ(charts[1].series[1].name, "batch 1, device cpu:1");
  EXPECT_EQ(charts[0].series[2].name, "cpu:1, batch 1");
  EXPECT_EQ(charts[1].series[1].style, charts[0].series[2].style);
}

TEST(Chart, AnIntervalThatDwarfsTheFiguresIsCut) {
  std::vector<Record> some = rows();
  some[0].set("step_time_high_s", 1.0);
  ChartSpec spec{.x = "batch", .y = "step_time_s", .series = "device"};
  EXPECT_EQ(make_chart(spec, columns(), some, chart_axes).y_range.high, 8) << "twice the 4 ms of cpu:1";
  spec.log_y = 10;
  EXPECT_EQ(make_chart(spec, columns(), some, chart_axes).y_range.high, 1000);
}

TEST(Chart, WhatCannotBeDrawnIsRefused) {
  const auto make = [](const ChartSpec& spec) { return [spec] { make_chart(spec, columns(), rows(), chart_axes); }; };
  EXPECT_THAT(make({.x = "bacth", .y = "loss"}),
              ThrowsMessage<Error>(HasSubstr("no column 'bacth' for x; columns are")));
  EXPECT_THAT(make({.x = "batch", .y = "latency_p99_s"}), ThrowsMessage<Error>("no row has latency_p99_s, for y"));
  EXPECT_THAT(make({.x = "batch", .y = "loss"}), ThrowsMessage<Error>("no row has both batch and loss"));
  EXPECT_THAT(make({.x = "batch", .y = "loss", .log_x = 1}),
              ThrowsMessage<Error>(HasSubstr("log_x is 1; the base of a logarithmic axis must be above 1")));
  EXPECT_THAT(make({.kind = ChartKind::bar, .x = "batch", .y = "loss", .log_y = 10}),
              ThrowsMessage<Error>(HasSubstr("bars stand on zero")));
  EXPECT_THAT(make({.kind = ChartKind::heat, .x = "batch", .y = "step_time_s"}),
              ThrowsMessage<Error>("a heat map needs 'series', the column whose values are its rows"));
  EXPECT_THAT(make({.kind = ChartKind::heat, .x = "batch", .y = "step_time_s", .series = "device", .log_x = 2}),
              ThrowsMessage<Error>(HasSubstr("only log_y shades its cells")));
  EXPECT_ERROR("unknown chart 'pie' (known: line, bar, heat, distribution, course, interval)", parse_chart_kind("pie"));
}

}  // namespace
}  // namespace gpubench
