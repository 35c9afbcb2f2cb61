#include "core/report/text/row_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "core/report/text/text.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

Info facts(Info::List figures) {
  return Info::Fields{{"axes", Info::List{Info::Fields{{"name", "device"}, {"values", Info::List{"cpu:0"}}},
                                          Info::Fields{{"name", "batch"}, {"values", Info::List{1, 1024}}}}},
                      {"figures", std::move(figures)}};
}

std::vector<Column> named_columns(std::initializer_list<const char*> names) {
  std::vector<Column> run_columns;
  for (const char* name : names) run_columns.push_back(column_of(name));
  return run_columns;
}

const std::vector<Column> run_columns =
    named_columns({"point", "process", "device", "batch", "status", "quality", "detail", "examples_per_s",
                   "step_time_s", "step_time_low_s", "step_time_high_s", "peak_memory_bytes", "loss", "steps"});

Record row(std::int64_t batch, double seconds) {
  return {{"device", std::string("cpu:0")},
          {"batch", batch},
          {"status", std::string("ok")},
          {"quality", std::string("ok")},
          {"examples_per_s", static_cast<double>(batch) / seconds},
          {"step_time_s", seconds},
          {"step_time_low_s", 0.99 * seconds},
          {"step_time_high_s", 1.01 * seconds}};
}

Record failed(std::int64_t batch) {
  return {{"device", std::string("cpu:0")},
          {"batch", batch},
          {"status", std::string("out_of_memory")},
          {"detail", std::string("1 GiB wanted\nand 12 MiB free")}};
}

TEST(RowStream, AFailureThatWasToldOnTheSameTerminalIsNotToldAgain) {
  RowStream told(facts({"step_time_s"}), {.failures_told = true});
  const std::string line = told.text_of(failed(1024), run_columns, 0);
  EXPECT_THAT(line, HasSubstr("out_of_memory\n"));
  EXPECT_THAT(line, Not(HasSubstr("1 GiB")));
  RowStream alone(facts({"step_time_s"}), {});
  EXPECT_THAT(alone.text_of(failed(1024), run_columns, 0), HasSubstr("out_of_memory: 1 GiB wanted"));
}

TEST(RowStream, WhatFilledTheMemoryIsLeftToTheTables) {
  const std::string why = "cpu:0: out of memory: 16 MiB asked for; 1 MiB free; largest: kernel 392 KiB";
  EXPECT_EQ(failure_text("out_of_memory", why), "out_of_memory: cpu:0: out of memory: 16 MiB asked for; ...");
  EXPECT_EQ(failure_text("error", "a; b"), "error: a; b");
  EXPECT_EQ(failure_text("timeout", ""), "timeout");
  Record full = failed(1024);
  full.set("detail", why);
  RowStream stream(facts({"step_time_s"}), {}), wide(facts({"step_time_s"}), {.all_columns = true});
  EXPECT_THAT(stream.text_of(full, run_columns, 0), EndsWith("out of memory: 16 MiB asked for; ...\n"));
  EXPECT_THAT(wide.text_of(full, run_columns, 0), EndsWith("largest: kernel 392 KiB\n"));
}

TEST(RowStream, OfARunThatIsOverAllRowsStandInOneTable) {
  const std::vector<Record> rows{row(1, 0.001), row(1024, 1234.5), failed(1024)};
  const auto table = [&](const Info& info, std::size_t width) {
    return RowStream(info, {.width = width}).table_of(rows, run_columns, width);
  };
  const Info of_run = facts({"examples_per_s", "step_time_s"});
  EXPECT_EQ(table(of_run, 60),
            "device  batch  examples/s  step time\n"
            "------  -----  ----------  ---------\n"
            "cpu:0       1         1 k       1 ms\n"
            "cpu:0    1024        0.83   20.6 min\n"
            "cpu:0    1024  out_of_memory: 1 GiB wanted and 12 MiB free\n");
  // Figures come before what went wrong.
  EXPECT_THAT(table(of_run, 44), AllOf(HasSubstr("examples/s"), Not(HasSubstr("step time"))));
  // Runs of older programs name their axes alone.
  const Info named = Info::Fields{{"axis_names", Info::List{"device", "batch"}},
                                  {"figures", Info::List{"examples_per_s", "step_time_s"}}};
  EXPECT_EQ(table(named, 60), table(of_run, 60));
  EXPECT_EQ(RowStream(of_run, {}).table_of({}, run_columns, 0), "");
}

TEST(RowStream, ColumnsStandBelowTheirHeadingsFromTheFirstRowOn) {
  RowStream stream(facts({"examples_per_s", "step_time_s", "loss"}), {});
  EXPECT_EQ(stream.text_of(row(1, 52.1e-6), run_columns, 0),
            "device  batch  examples/s  step time          ±\n"
            "------  -----  ----------  ---------  ---------\n"
            "cpu:0       1      19.2 k    52.1 µs      1.0 %\n");
  EXPECT_EQ(stream.text_of(row(1024, 5.4), run_columns, 0), "cpu:0    1024         190      5.4 s      1.0 %\n");
  EXPECT_EQ(stream.headings(), (std::vector<std::string>{"device", "batch", "examples/s", "step time", "±"}));
}

TEST(RowStream, SaysWhatWentWrongBehindTheRow) {
  RowStream stream(facts({"examples_per_s"}), {.color = true});
  EXPECT_EQ(stream.text_of(failed(1), run_columns, 60),
            "device  batch\n"
            "------  -----\n"
            "cpu:0       1  \x1b[31mout_of_memory: 1 GiB wanted and 12 MiB free\x1b[0m\n");
  Record doubtful = row(1024, 1);
  doubtful.set("quality", std::string("unreliable: a wide interval, and many words more"));
  EXPECT_EQ(stream.text_of(doubtful, run_columns, 60),
            "\ndevice  batch  examples/s\n"
            "------  -----  ----------\n"
            "cpu:0    1024      1.02 k  \x1b[33munreliable: a wide interval, and…\x1b[0m\n");
  EXPECT_THAT(stream.text_of(failed(1), run_columns, 40),
              AllOf(HasSubstr("batch"), EndsWith("out_of_memory: 1 GiB wan…\x1b[0m\n")));
  Record skipped = failed(1);
  skipped.set("status", std::string("skipped"));
  EXPECT_EQ(stream.text_of(skipped, run_columns, 60), "");
}

TEST(RowStream, ADetailIsToldOnce) {
  RowStream stream(facts({"examples_per_s"}), {});
  Record one = row(1, 1);
  one.set("detail", std::string("no tracer"));
  EXPECT_THAT(stream.text_of(one, run_columns, 0), EndsWith("  no tracer\n"));
  EXPECT_THAT(stream.text_of(one, run_columns, 0), Not(HasSubstr("tracer")));
}

TEST(RowStream, EachKindOfDoubtIsToldOnceInFull) {
  RowStream stream(facts({"examples_per_s"}), {});
  const auto line = [&](const char* text, const char* kind) {
    Record one = row(1, 1);
    one.set("quality", std::string("unreliable: ") + text);
    one.set("doubt", std::string(kind));
    return stream.text_of(one, run_columns, 0);
  };
  EXPECT_THAT(line("others took 20 %", "busy"), EndsWith("  unreliable: others took 20 %\n"));
  EXPECT_THAT(line("others took 30 %", "busy"), EndsWith("  unreliable: busy\n"));
  EXPECT_THAT(line("known to 18 % only", "scatter"), EndsWith("  unreliable: known to 18 % only\n"));
  // Of older runs, whose sentences may say anything.
  EXPECT_THAT(line("one", ""), EndsWith("  unreliable: one\n"));
  EXPECT_THAT(line("another", ""), EndsWith("  unreliable: another\n"));
}

TEST(RowStream, AFigureThatComesLaterGetsItsColumn) {
  RowStream stream(facts({"examples_per_s", "loss"}), {});
  EXPECT_THAT(stream.text_of(row(1, 1), run_columns, 0), Not(HasSubstr("loss")));
  Record with_loss = row(1, 1);
  with_loss.set("loss", 0.25);
  EXPECT_EQ(stream.text_of(with_loss, run_columns, 0),
            "\ndevice  batch  examples/s    loss\n"
            "------  -----  ----------  ------\n"
            "cpu:0       1           1    0.25\n");
  EXPECT_EQ(stream.text_of(row(1, 1), run_columns, 0), "cpu:0       1           1\n");
}

TEST(RowStream, AWindowThatChangesGetsNewHeadings) {
  RowStream stream(facts({"examples_per_s", "step_time_s"}), {});
  stream.text_of(row(1, 1), run_columns, 80);
  EXPECT_EQ(stream.text_of(row(1, 1), run_columns, 80), "cpu:0       1           1        1 s      1.0 %\n");
  EXPECT_EQ(stream.text_of(row(1, 1), run_columns, 50),
            "\ndevice  batch  examples/s\n"
            "------  -----  ----------\n"
            "cpu:0       1           1\n");
}

TEST(RowStream, FitsAnyWindow) {
  for (const std::size_t width : {1U, 8U, 20U, 40U, 60U, 80U, 120U, 200U}) {
    RowStream stream(facts({"examples_per_s", "step_time_s", "peak_memory_bytes", "loss"}), {.width = width});
    Record doubtful = row(64, 1e-3);
    doubtful.set("quality", "unreliable: " + std::string(300, 'x'));
    doubtful.set("peak_memory_bytes", std::int64_t{1} << 33);
    std::string text;
    for (const Record& one : {row(1, 5e-5), doubtful, failed(128), row(1024, 123.0)})
      text += stream.text_of(one, run_columns, width);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), width) << line;
      EXPECT_EQ(one_line(line), line);
    }
    EXPECT_EQ(text.find("1024") != std::string::npos, width >= 20) << width;
    EXPECT_EQ(text.find("examples/s") != std::string::npos, width >= 40) << width;
  }
}

TEST(RowStream, AWideNumberMovesNoFigureOutOfTheWindow) {
  RowStream stream(facts({"examples_per_s", "loss"}), {.width = 56});
  Record one = row(1, 1), wide = row(1, 1);
  one.set("loss", 0.5);
  wide.set("loss", -1.234e-102);
  stream.text_of(one, run_columns, 56);
  std::istringstream lines(stream.text_of(wide, run_columns, 56));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 56) << line;
}

TEST(RowStream, WithoutClaimsARowShowsWhatItHas) {
  RowStream stream(facts({}), {});
  Record one = row(1, 1);
  one.set("steps", std::int64_t{7});
  one.set("own", std::int64_t{3});
  std::vector<Column> with_own = run_columns;
  with_own.push_back(column_of("own"));
  const std::string text = stream.text_of(one, with_own, 0);
  EXPECT_THAT(text, AllOf(HasSubstr("examples/s  step time"), HasSubstr("own"), Not(HasSubstr("steps")),
                          Not(HasSubstr("status"))));
}

TEST(RowStream, RowsOfSeveralProcessesSayWhose) {
  Info info = facts({"examples_per_s"});
  info.set("processes", Info::List{"process 0", "process 1"});
  RowStream stream(info, {});
  Record one = row(1, 1);
  one.set("process", std::int64_t{1});
  EXPECT_THAT(stream.text_of(one, run_columns, 0), HasSubstr("batch  process  examples/s\n"));
}

}  // namespace
}  // namespace gpubench
