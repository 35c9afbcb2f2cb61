#include "core/results/column.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "tests/support/expect_error.h"
#include "tests/support/generated_file.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

TEST(Column, StandardColumnsAreUniqueAndStartWithTheKeys) {
  std::set<std::string> names;
  for (const Column& column : standard_columns()) names.insert(column.name);
  EXPECT_EQ(names.size(), standard_columns().size());
  EXPECT_EQ(standard_columns()[0].name, "experiment");
  EXPECT_EQ(standard_columns()[1].name, "point");
  EXPECT_EQ(standard_columns()[2].name, "process");
}

TEST(Column, EveryOneHasADescriptionOfOneLine) {
  for (const auto& columns : {standard_columns(), optional_columns()}) {
    for (const Column& column : columns) {
      EXPECT_GE(column.description.size(), 8u) << column.name;
      EXPECT_LE(column.description.size(), 100u) << column.name;
      EXPECT_EQ(column.description.find_first_of("|\n"), std::string_view::npos) << column.name;
      EXPECT_EQ(column_of(column.name), column);
    }
  }
  EXPECT_EQ(column_of("gap_s").description, "");
  EXPECT_EQ(column_of("accuracy_low").description, "");
}

TEST(Column, EndsOfIntervalsFollowFromTheirColumn) {
  const auto columns = standard_columns();
  const auto at = std::ranges::find(columns, "examples_per_s", &Column::name);
  ASSERT_LT(at + 2, columns.end());
  EXPECT_TRUE(at->has_interval);
  EXPECT_EQ(at[1].name, "examples_low_per_s");
  EXPECT_EQ(at[2].name, "examples_high_per_s");
  EXPECT_EQ(at[2].unit, Unit::per_second);
  EXPECT_EQ(at[2].better, Better::higher);
  EXPECT_EQ(at[2].kind, Kind::time);
  EXPECT_FALSE(at[2].has_interval);
}

TEST(Column, EveryDeclarationIsComplete) {
  for (const auto& columns : {standard_columns(), optional_columns()}) {
    for (const Column& column : columns) {
      EXPECT_NE(column.kind, Kind::unknown) << column.name;
      EXPECT_NE(column.filled_by, "") << column.name;
      const bool is_measured = column.kind == Kind::time || column.kind == Kind::memory || column.kind == Kind::learned;
      if (is_measured && column.unit != Unit::none && column.unit != Unit::share) {
        EXPECT_NE(column.better, Better::neither) << column.name;
      }
      for (const auto& [suffix, unit] : {std::pair{"_s", Unit::seconds}, std::pair{"_bytes", Unit::bytes},
                                         std::pair{"_share", Unit::share}, std::pair{"_hz", Unit::hertz}}) {
        EXPECT_TRUE(unit_suffix(column) != suffix || column.unit == unit) << column.name;
      }
    }
  }
}

/// Calls `visit` with each declared column, without the ends of intervals.
void for_each_declared(const auto& visit) {
  std::set<std::string> ends;
  for (const auto& columns : {standard_columns(), optional_columns()}) {
    for (const Column& column : columns) {
      if (ends.contains(column.name)) continue;
      visit(column);
      if (!column.has_interval) continue;
      for (const char* end : {"low", "high"}) ends.insert(interval_end(column, end));
    }
  }
}

/// The table of docs/columns.md as the declarations have it.
std::string documented_columns() {
  std::string table = "| column | unit | better | filled by | meaning |\n|---|---|---|---|---|\n";
  for_each_declared([&](const Column& column) {
    table += fmt::format("| `{}`{} | {} | {} | {} | {} |\n", column.name, column.has_interval ? " ±" : "",
                         to_string(column.unit), to_string(column.better), column.filled_by, column.description);
  });
  return table;
}

TEST(GeneratedFiles, TheTableOfColumnsHasTheDeclarations) {
  expect_generated_table("docs/columns.md", "| column |", documented_columns());
}

/// The class of lua/meta that completes a row's fields in editors.
std::string documented_row() {
  constexpr std::size_t longest_line = 120;
  std::string text =
      "---@meta\n"
      "-- The columns that the program fills, as core/results/declared_columns.cpp has them: a test writes this "
      "file.\n\n---@class Row\n";
  for_each_declared([&](const Column& column) {
    const char* const type = column.is_text() ? "string?" : "number?";
    const std::string unit = column.unit == Unit::none ? "" : fmt::format(" [{}]", to_string(column.unit));
    const std::string field = fmt::format("---@field {} {}", column.name, type);
    const std::string meaning = std::string(column.description) + unit;
    text += field + (field.size() + 1 + meaning.size() <= longest_line ? " " : "\n--- ") + meaning + "\n";
    if (!column.has_interval) return;
    for (const char* end : {"low", "high"}) text += fmt::format("---@field {} {}\n", interval_end(column, end), type);
  });
  return text;
}

TEST(GeneratedFiles, TheClassOfARowHasTheDeclarations) {
  expect_generated("lua/meta/row.lua", documented_row());
}

TEST(Column, NamesTellTheUnit) {
  EXPECT_EQ(column_of("gap_s").unit, Unit::seconds);
  EXPECT_EQ(column_of("gap_s").better, Better::lower);
  EXPECT_EQ(column_of("copies_per_s").unit, Unit::per_second);
  EXPECT_EQ(column_of("copied_bytes_per_s").unit, Unit::bytes_per_second);
  EXPECT_EQ(column_of("workspace_bytes").unit, Unit::bytes);
  EXPECT_EQ(column_of("val_accuracy").better, Better::higher);
  EXPECT_EQ(column_of("units").unit, Unit::none);
  EXPECT_EQ(column_of("examples_per_s").better, Better::higher);
  EXPECT_EQ(to_string(Unit::flops_per_second), "FLOP/s");
  EXPECT_EQ(to_string(Better::lower), "lower");
}

TEST(Column, AnIntervalsEndsHaveTheUnitOfTheirColumn) {
  EXPECT_EQ(interval_end(column_of("step_time_s"), "low"), "step_time_low_s");
  EXPECT_EQ(interval_end(column_of("flops_per_s"), "high"), "flops_high_per_s");
  EXPECT_EQ(interval_end(column_of("test_accuracy"), "low"), "test_accuracy_low");
  EXPECT_EQ(column_of("test_accuracy_low").unit, Unit::share);
  EXPECT_EQ(column_of("test_accuracy_high").name, "test_accuracy_high");
}

TEST(Column, EachKindHasAQualityOfItsOwn) {
  for (const char* name : {"step_time_s", "examples_low_per_s", "mfu", "gap_s", "copy_share", "power_w"}) {
    EXPECT_EQ(quality_column(column_of(name).kind), "quality") << name;
  }
  for (const char* name : {"peak_memory_bytes", "workspace_bytes"}) {
    EXPECT_EQ(quality_column(column_of(name).kind), "memory_quality") << name;
  }
  for (const char* name : {"loss", "accuracy", "test_accuracy_low", "flops_per_step", "weights_bytes"}) {
    EXPECT_EQ(quality_column(column_of(name).kind), "") << name;
  }
}

TEST(Column, WordsOfAColumnAreReadBack) {
  for (const Column& column : standard_columns()) {
    EXPECT_EQ(parse_unit(to_string(column.unit)), column.unit);
    EXPECT_EQ(parse_better(to_string(column.better)), column.better);
    EXPECT_EQ(parse_kind(to_string(column.kind)), column.kind);
  }
  EXPECT_ERROR(HasSubstr("unknown kind of a column 'sometimes'"), parse_kind("sometimes"));
}

TEST(Column, TheUnitsEndingIsKnown) {
  EXPECT_EQ(unit_suffix(column_of("step_time_s")), "_s");
  EXPECT_EQ(unit_suffix(column_of("examples_per_s")), "_per_s");
  EXPECT_EQ(unit_suffix(column_of("loss")), "");
  EXPECT_EQ(unit_suffix(column_of("sm_clock_hz")), "_hz");
  EXPECT_EQ(unit_suffix(column_of("temperature_c")), "_c");
  EXPECT_EQ(unit_suffix(column_of("plan_c")), "") << "a script's own name may end so";
}

TEST(Thresholds, AreReadInPerCent) {
  EXPECT_DOUBLE_EQ(parse_threshold("3 %"), 0.03);
  EXPECT_DOUBLE_EQ(parse_threshold("0.5%"), 0.005);
  for (const char* const text :
       {"", "3", "0.03", "-1 %", "0 %", "51 %", "3 % %", "x %", "%", "nan %", "3 %x", "1e400 %"}) {
    EXPECT_ERROR(HasSubstr("per cent are expected"), parse_threshold(text)) << text;
  }
}

}  // namespace
}  // namespace gpubench
