#include "core/report/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::vector<std::string> chart_axes{"device", "batch"};

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
  EXPECT_EQ(chart.y_label, "step time [ms]");
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[0].name, "cpu:0");
  ASSERT_EQ(chart.series[0].points.size(), 2u);
  EXPECT_EQ(chart.series[0].points[0].x, 1);
  EXPECT_DOUBLE_EQ(chart.series[0].points[1].y, 2);
  EXPECT_DOUBLE_EQ(chart.series[0].points[1].interval->low, 1.8);
  EXPECT_EQ(chart.series[1].points.size(), 1u);  // the failed row is not drawn
  EXPECT_TRUE(chart.categories.empty());
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
  EXPECT_EQ(bars.series[1].failed[0].x, 0) << "the place of its category, 8, which comes first";
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
  EXPECT_EQ(chart.y_label, "thousand examples/s");
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
  EXPECT_THAT(
      [&] {
        drawn({{"batch", std::int64_t{2}}});
      },
      ThrowsMessage<Error>(HasSubstr("no row with batch=2 has both device and step_time_s")));
  EXPECT_THAT(
      [&] {
        drawn({{"bach", std::int64_t{2}}});
      },
      ThrowsMessage<Error>(HasSubstr("no column 'bach' for where")));
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
  EXPECT_EQ(chart.absent[0].reason, "out of memory, timeout, not measured");
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
  EXPECT_EQ(chart.x_label, "used [KiB]");
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
  EXPECT_EQ(chart.x_label, "data");
  ASSERT_EQ(chart.series[0].points.size(), 3u);
  EXPECT_EQ(chart.series[0].points[0].x, 4096);
  EXPECT_EQ(chart.series[0].points[0].x_text, "4 KiB");
  EXPECT_EQ(chart.series[0].points[2].x_text, "64 MiB");
  some.erase(some.begin());  // one unit will do
  EXPECT_EQ(make_chart({.x = "data_bytes", .y = "step_time_s", .log_x = 2}, with_size, some, {}).x_label, "data [MiB]");
}

TEST(Chart, TextAndBarsMakeCategories) {
  const Chart bars = make_chart({.kind = ChartKind::bar, .x = "batch", .y = "step_time_s", .series = "device"},
                                columns(), rows(), chart_axes);
  EXPECT_EQ(bars.categories, (std::vector<std::string>{"8", "1"}));
  const Chart line = make_chart({.x = "device", .y = "step_time_s", .series = "batch"}, columns(), rows(), chart_axes);
  EXPECT_EQ(line.categories, (std::vector<std::string>{"cpu:0", "cpu:1"}));
  EXPECT_EQ(line.series[0].name, "batch 8");  // a number says of what
}

TEST(Chart, WhatCannotBeDrawnIsRefused) {
  const auto make = [](const ChartSpec& spec) { return [spec] { make_chart(spec, columns(), rows(), chart_axes); }; };
  EXPECT_THAT(make({.x = "bacth", .y = "loss"}),
              ThrowsMessage<Error>(HasSubstr("no column 'bacth' for x; columns are")));
  EXPECT_THAT(make({.x = "batch", .y = "loss"}), ThrowsMessage<Error>("no row has both batch and loss"));
  EXPECT_THAT(make({.x = "batch", .y = "loss", .log_x = 1}),
              ThrowsMessage<Error>(HasSubstr("log_x is 1; the base of a logarithmic axis must be above 1")));
  EXPECT_THAT(make({.kind = ChartKind::bar, .x = "batch", .y = "loss", .log_y = 10}),
              ThrowsMessage<Error>(HasSubstr("bars stand on zero")));
  EXPECT_THAT([] { parse_chart_kind("pie"); }, ThrowsMessage<Error>("unknown chart 'pie' (known: line, bar)"));
}

}  // namespace
}  // namespace gpubench
