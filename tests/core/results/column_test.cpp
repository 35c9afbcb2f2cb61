#include "core/results/column.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <set>

#include "core/results/append_file.h"

namespace gpubench {
namespace {

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

TEST(Column, TheDocumentationListsThemAll) {
  std::string list = "| column | unit | meaning |\n|---|---|---|\n";
  for (const auto& columns : {standard_columns(), optional_columns()}) {
    for (const Column& column : columns) {
      const std::string unit(to_string(column.unit));
      list += "| `" + column.name + "` | " + unit + (unit.empty() ? "| " : " | ");
      list.append(column.description).append(" |\n");
    }
  }
  const std::string page = read_file(std::filesystem::path(GPUBENCH_SOURCE_DIR) / "docs/columns.md");
  EXPECT_NE(page.find("# What the columns mean\n"), std::string::npos);
  EXPECT_NE(page.find("\n" + list + "\n"), std::string::npos) << "docs/columns.md should list:\n" << list;
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

TEST(Column, QualityIsAboutWhatIsMeasured) {
  for (const char* name : {"step_time_s", "examples_low_per_s", "mfu", "peak_memory_bytes", "gap_s", "copy_share"}) {
    EXPECT_TRUE(depends_on_quality(column_of(name))) << name;
  }
  for (const char* name : {"loss", "accuracy", "test_accuracy_low", "parameters", "epochs_run"}) {
    EXPECT_FALSE(depends_on_quality(column_of(name))) << name;
  }
}

TEST(Column, TheUnitsEndingIsKnown) {
  EXPECT_EQ(unit_suffix(column_of("step_time_s")), "_s");
  EXPECT_EQ(unit_suffix(column_of("examples_per_s")), "_per_s");
  EXPECT_EQ(unit_suffix(column_of("loss")), "");
  EXPECT_EQ(unit_suffix(column_of("sm_clock_hz")), "_hz");
  EXPECT_EQ(unit_suffix(column_of("temperature_c")), "_c");
  EXPECT_EQ(unit_suffix(column_of("plan_c")), "") << "a script's own name may end so";
}

}  // namespace
}  // namespace gpubench
