#include "core/report/text/run_table.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

std::vector<Column> columns_of(std::initializer_list<const char*> names) {
  std::vector<Column> columns;
  for (const char* name : names) columns.push_back(column_of(name));
  return columns;
}

std::vector<std::string> headings(const Table& table) {
  std::vector<std::string> all;
  for (const auto& heading : table.headings) all.push_back(heading.text);
  return all;
}

TEST(FormatCell, ScalesByUnit) {
  EXPECT_EQ(format_cell(4.52e-5, Unit::seconds), "45.2 µs");
  EXPECT_EQ(format_cell(std::int64_t{3} << 20, Unit::bytes), "3 MiB");
  EXPECT_EQ(format_cell(123456.0, Unit::per_second), "123 k");
  EXPECT_EQ(format_cell(5.1e10, Unit::flops_per_second), "51 GFLOP/s");
  EXPECT_EQ(format_cell(0.8751, Unit::share), "87.5 %");
  EXPECT_EQ(format_cell(1.98e9, Unit::hertz), "1.98 GHz");
  EXPECT_EQ(format_cell(61.0, Unit::celsius), "61 °C");
  EXPECT_EQ(format_cell(0.123456, Unit::none), "0.1235");
  EXPECT_EQ(format_cell(std::int64_t{123456}, Unit::none), "123456");
  EXPECT_EQ(format_cell(std::string("gpu:0"), Unit::none), "gpu:0");
  EXPECT_EQ(format_cell({}, Unit::seconds), "");
}

TEST(StepError, OfALopsidedIntervalIsItsEnds) {
  const auto error = [](double low, double high) {
    return format_step_error({{"step_time_s", 72.1e-6}, {"step_time_low_s", low}, {"step_time_high_s", high}});
  };
  EXPECT_EQ(error(71.6e-6, 72.6e-6), "0.7 %");
  EXPECT_EQ(error(70.6e-6, 289e-6), "-2/+301 %") << "of the first run of the README";
  EXPECT_EQ(error(20e-6, 73e-6), "-72/+1 %");
  EXPECT_EQ(error(72.1e-6, 80e-6), "-0/+11 %");
  EXPECT_EQ(error(50e-6, 90e-6), "30.7 %") << "about as far away";
  EXPECT_EQ(error(72e-6, 74e-6), "2.6 %") << "nobody would see the difference";
  EXPECT_EQ(format_step_error({{"step_time_s", 1.0}}), "");
}

TEST(FormatCell, HeadingsAreWords) {
  EXPECT_EQ(heading_of(column_of("examples_per_s")), "examples/s");
  EXPECT_EQ(heading_of(column_of("step_time_s")), "step time");
  EXPECT_EQ(heading_of(column_of("peak_memory_bytes")), "peak memory");
  EXPECT_EQ(heading_of(column_of("temperature_c")), "temperature");
  EXPECT_EQ(heading_of(column_of("sm_clock_hz")), "sm clock");
  EXPECT_EQ(heading_of(column_of("mfu")), "MFU");
  EXPECT_EQ(heading_of(column_of("flops_per_s")), "flops/s");
}

TEST(RunTable, EndsOfIntervalsAreNoColumnsOfTheirOwn) {
  const auto columns = columns_of({"gap_s", "gap_low_s", "gap_high_s", "hit_accuracy", "hit_accuracy_low", "tide_low"});
  std::vector<Record> records(1);
  for (const Column& column : columns) records[0].set(column.name, 0.5);
  EXPECT_EQ(headings(run_table(columns, records, {}, Detail::full).table),
            (std::vector<std::string>{"gap", "hit accuracy", "tide low"}));
}

TEST(RunTable, ShowsRowsInTheOrderOfTheSweep) {
  std::vector<Record> records;
  for (const std::int64_t point : {1, 3, 2, 4}) records.push_back({{"point", point}});
  records.back().set("status", std::string("skipped"));
  std::string order;
  for (const Record& row : rows_to_show(records)) order += to_text(row.get("point"));
  EXPECT_EQ(order, "123");
}

TEST(RunTable, LeavesOutWhatSaysNothing) {
  const auto columns = columns_of({"experiment", "point", "process", "batch", "status", "quality", "device",
                                   "examples_per_s", "step_time_s", "step_time_low_s", "step_time_high_s", "loss"});
  std::vector<Record> records;
  for (const std::int64_t batch : {1, 32}) {
    records.push_back({{"experiment", std::string("e")},
                       {"point", batch},
                       {"process", std::int64_t{0}},
                       {"batch", batch},
                       {"status", std::string("ok")},
                       {"quality", std::string("ok")},
                       {"device", std::string("cpu:0")},
                       {"examples_per_s", 1000.0},
                       {"step_time_s", 1e-3},
                       {"step_time_low_s", 0.98e-3},
                       {"step_time_high_s", 1.01e-3}});
  }
  const std::vector<std::string> axes{"batch"};
  const RunTable brief = run_table(columns, records, axes, Detail::brief);
  EXPECT_EQ(headings(brief.table), (std::vector<std::string>{"batch", "examples/s", "step time", "±"}));
  EXPECT_EQ(brief.table.rows[1], (std::vector<std::string>{"32", "1 k", "1 ms", "2.0 %"}));
  ASSERT_EQ(brief.common.size(), 1u);
  EXPECT_EQ(brief.common[0].heading + " " + brief.common[0].text, "device cpu:0");

  const RunTable full = run_table(columns, records, axes, Detail::full);
  EXPECT_EQ(headings(full.table), (std::vector<std::string>{"point", "batch", "examples/s", "step time", "±"}));
}

TEST(RunTable, WhatSomeRowsLackIsNotCommon) {
  const auto columns = columns_of({"batch", "status", "parts"});
  const std::vector<std::string> axes{"batch"};
  const Record whole{{"status", std::string("ok")}}, failed{{"status", std::string("out_of_memory")}};
  const Record in_parts{{"status", std::string("ok")}, {"parts", std::int64_t{4}}};
  const auto common = [&](const std::vector<Record>& records) {
    return run_table(columns, records, axes, Detail::brief).common.size();
  };
  EXPECT_EQ(common({in_parts, in_parts, failed}), 1U);  // a row that failed has no figures
  EXPECT_EQ(common({in_parts, in_parts, whole}), 0U);
}

TEST(RunTable, ShowsWhatWentWrong) {
  const auto columns = columns_of({"point", "process", "device", "status", "detail"});
  const std::vector<Record> records{{{"device", std::string("cpu:0")}, {"status", std::string("ok")}},
                                    {{"device", std::string("cpu:0")},
                                     {"status", std::string("out_of_memory")},
                                     {"detail", std::string("1 GiB wanted")}}};
  const std::vector<std::string> axes{"device"};
  const RunTable shown = run_table(columns, records, axes, Detail::brief);
  EXPECT_EQ(headings(shown.table), (std::vector<std::string>{"device", "status", "detail"}));
}

}  // namespace
}  // namespace gpubench
