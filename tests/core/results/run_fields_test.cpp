#include "core/results/run_fields.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "core/results/append_file.h"
#include "core/results/info.h"
#include "core/results/run_reader.h"
#include "core/results/run_writer.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"
#include "tests/support/generated_file.h"

namespace gpubench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

std::set<std::string> declared_fields() {
  std::set<std::string> names;
  for (const RunField& field : run_fields()) names.emplace(field.name);
  return names;
}

TEST(RunFields, EachIsDeclaredOnce) {
  EXPECT_EQ(declared_fields().size(), run_fields().size());
}

TEST(RunFields, ARunHasNoOthers) {
  const TemporaryDirectory out;
  RunWriter run({.experiment = "e", .title = "t", .axes = {}, .extra_columns = {}, .out = out.path()});
  EXPECT_ERROR(HasSubstr("run.json has no field 'sed'"), run.set_info(Info::Fields{{"sed", 7}}));
  EXPECT_EQ(run.info().find("sed"), nullptr);
  run.finish("done");
  for (const auto& [name, value] : *run.info().fields()) EXPECT_THAT(declared_fields(), Contains(name));
}

TEST(RunFields, StoredRunsHaveNoOthers) {
  int runs = 0;
  const std::filesystem::path samples = std::filesystem::path(GPUBENCH_SOURCE_DIR) / "results/samples";
  for (const auto& file : std::filesystem::recursive_directory_iterator(samples)) {
    if (file.path().filename() != "run.json") continue;
    const Info info = parse_json(read_file(file.path()), "run.json");
    for (const auto& [name, value] : *info.fields()) EXPECT_THAT(declared_fields(), Contains(name)) << file.path();
    ++runs;
  }
  EXPECT_GT(runs, 0);
}

TEST(RunFields, StoredRunsOfEverySchemaAreReadable) {
  std::set<double> schemas, expected;
  for (int schema = 1; schema <= run_schema; ++schema) expected.insert(schema);
  const std::filesystem::path samples = std::filesystem::path(GPUBENCH_SOURCE_DIR) / "results/samples";
  for (const auto& file : std::filesystem::recursive_directory_iterator(samples)) {
    if (file.path().filename() != "run.json") continue;
    const gpubench::Run run = read_run(file.path().parent_path());
    EXPECT_EQ(run.info.number("rows"), static_cast<double>(run.records.size())) << file.path();
    schemas.insert(run.info.number("schema").value_or(0));
  }
  EXPECT_EQ(schemas, expected) << "results/samples keeps a run of each schema";
}

TEST(GeneratedFiles, TheTableOfRunJsonHasTheDeclarations) {
  std::string table = "| field of `run.json` | there | what it says |\n|---|---|---|\n";
  for (const RunField& field : run_fields())
    table += fmt::format("| `{}` | {} | {} |\n", field.name, field.present, field.meaning);
  expect_generated_table("docs/runs.md", "| field of `run.json` |", table);
}

}  // namespace
}  // namespace gpubench
