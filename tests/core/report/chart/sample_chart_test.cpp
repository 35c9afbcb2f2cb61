#include "core/report/chart/sample_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/input_limits.h"
#include "core/codec/output_file.h"
#include "core/report/chart/gnuplot_axes.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<ChartAxis> sample_axes{{.name = "way"}};

std::vector<Record> sample_points() {
  std::vector<Record> rows;
  for (const auto& [point, way] : {std::pair<std::int64_t, const char*>{1, "a"}, {2, "b"}, {2, "b"}})
    rows.push_back({{"point", point},
                    {"way", std::string(way)},
                    {"status", std::string("ok")},
                    {"step_time_s", 1.0},
                    {"step_time_low_s", 0.5},
                    {"step_time_high_s", 2.0}});
  return rows;
}

const std::vector<Column> sample_columns{column_of("point"), column_of("way"), column_of("status"),
                                         column_of("step_time_s")};

TEST(SampleChart, SamplesAreThoseOfTheFirstProcessInTheirOrder) {
  const TemporaryDirectory out;
  replace_file(out.path() / "samples.csv",
               "point,process,round,step,seconds\r\n1,0,1,1,0.5\r\n1,1,1,1,9\r\n1,0,2,1,0.25\r\n2,0,1,1,7\r\n2,0,1,2,");
  const SamplesByPoint samples = read_samples(out.path());
  EXPECT_THAT(samples.at(1), ElementsAre(0.5, 0.25));
  EXPECT_THAT(samples.at(2), ElementsAre(7)) << "the last line is not whole";
  EXPECT_THAT(read_samples(out.path() / "nowhere"), IsEmpty());
}

TEST(SampleChart, SamplesHaveALimit) {
  const TemporaryDirectory out;
  replace_file(out.path() / "samples.csv", "point,process,round,step,seconds\r\n1e300,0,1,1,1\r\n1,0,1,1,0.5");
  EXPECT_THAT(read_samples(out.path()), IsEmpty()) << "no point, and no whole line";
  std::filesystem::resize_file(out.path() / "samples.csv", largest_texts + 1);
  EXPECT_ERROR(testing::HasSubstr("samples.csv: 268435457 bytes; charts read at most 268435456"),
               read_samples(out.path()));
}

TEST(SampleChart, ADistributionHasTheShareOfStepsThatTookAsLongAtMost) {
  const SamplesByPoint samples{{1, {0.004, 0.001, 0.003, 0.002}}, {2, {0.005}}};
  ChartSpec spec{.kind = ChartKind::distribution, .series = "way"};
  const SampleRows made = sample_rows(spec, samples, sample_columns, sample_points(), sample_axes);
  EXPECT_EQ(made.records.size(), 5u) << "a point of two rows has its samples once";
  const Chart chart = make_chart(spec, made.columns, made.records, sample_axes);
  EXPECT_EQ(chart.spec.title, "distribution of the step time");
  EXPECT_EQ(chart.x_label, "step time (ms)");
  EXPECT_EQ(chart.y_label, "share of steps (%)");
  ASSERT_EQ(chart.series.size(), 2u);
  ASSERT_EQ(chart.series[0].points.size(), 4u);
  EXPECT_DOUBLE_EQ(chart.series[0].points[0].x, 1);
  EXPECT_DOUBLE_EQ(chart.series[0].points[0].y, 25);
  EXPECT_DOUBLE_EQ(chart.series[0].points[3].x, 4);
  EXPECT_DOUBLE_EQ(chart.series[0].points[3].y, 100);
  EXPECT_FALSE(chart.series[0].points[0].interval) << "that of the point's median";
}

TEST(SampleChart, TimesOfManyMagnitudesHaveOneUnitAndRoundTicks) {
  SamplesByPoint samples;
  for (int i = 0; i < 200; ++i) samples[1].push_back(1e-5 * (1 + 100.0 * i));
  ChartSpec spec{.kind = ChartKind::distribution, .series = "way", .log_x = 10};
  const SampleRows made = sample_rows(spec, samples, sample_columns, sample_points(), sample_axes);
  const Chart chart = make_chart(spec, made.columns, made.records, sample_axes);
  EXPECT_EQ(chart.x_label, "step time (ms)");
  EXPECT_THAT(x_axis_commands(chart),
              testing::HasSubstr("set xtics ('0.01' 0.01, '0.1' 0.1, '1' 1, '10' 10, '100' 100)"));
}

TEST(SampleChart, OfThousandsOfStepsTheSmallestAndTheLargestStay) {
  SamplesByPoint samples;
  for (int i = 5000; i >= 1; --i) samples[1].push_back(i);
  ChartSpec spec{.kind = ChartKind::distribution, .series = "way", .where = {{"way", std::string("a")}}};
  const SampleRows made = sample_rows(spec, samples, sample_columns, sample_points(), sample_axes);
  EXPECT_LE(made.records.size(), 200u);
  EXPECT_EQ(made.records.front().get("step_time_s"), Cell(1.0));
  EXPECT_EQ(made.records.back().get("step_time_s"), Cell(5000.0));
  EXPECT_EQ(made.records.back().get("share_of_steps"), Cell(1.0));
}

TEST(SampleChart, ACourseHasTheStepsOneAfterTheOther) {
  SamplesByPoint samples{{1, {0.003, 0.001, 0.002}}};
  ChartSpec spec{.kind = ChartKind::course, .series = "way"};
  SampleRows made = sample_rows(spec, samples, sample_columns, sample_points(), sample_axes);
  const Chart chart = make_chart(spec, made.columns, made.records, sample_axes);
  ASSERT_EQ(chart.series[0].points.size(), 3u);
  EXPECT_EQ(chart.series[0].points[1].x, 2);
  EXPECT_DOUBLE_EQ(chart.series[0].points[1].y, 1);
  EXPECT_EQ(chart.spec.title, "step time, one after the other");
  samples[1].assign(1000, 0.5);
  samples[1][2] = 9;  // one slow step of five is no drift
  made = sample_rows(spec, samples, sample_columns, sample_points(), sample_axes);
  ASSERT_EQ(made.records.size(), 200u);
  EXPECT_EQ(made.records[0].get("step_time_s"), Cell(0.5));
  EXPECT_EQ(made.records[1].get("step"), Cell(std::int64_t{6}));
}

TEST(SampleChart, AnswersHaveLatencies) {
  std::vector<Record> rows = sample_points();
  rows[0].set("latency_s", 1.0);
  ChartSpec spec{.kind = ChartKind::distribution};
  sample_rows(spec, {}, sample_columns, rows, sample_axes);
  EXPECT_EQ(spec.x, "latency_s");
  EXPECT_EQ(spec.y, "share_of_answers");
}

}  // namespace
}  // namespace gpubench
