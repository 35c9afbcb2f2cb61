#include "core/report/finish.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/report/gnuplot.h"
#include "core/results/append_file.h"
#include "core/results/run_reader.h"
#include "tests/core/results/temporary_directory.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

RunWriter writer_with_rows(const TemporaryDirectory& out) {
  RunWriter writer({.experiment = "e", .title = "A title", .axes = {"batch"}, .extra_columns = {}, .out = out.path()});
  writer.add(
      {{"batch", std::int64_t{1}}, {"step_time_s", 1e-3}, {"step_time_low_s", 0.9e-3}, {"step_time_high_s", 1.2e-3}});
  writer.add(
      {{"batch", std::int64_t{8}}, {"step_time_s", 2e-3}, {"step_time_low_s", 1.9e-3}, {"step_time_high_s", 2.2e-3}});
  return writer;
}

// Programs are looked for in an empty place.
class EmptyPath {
 public:
  explicit EmptyPath(const TemporaryDirectory& directory) : before_(std::getenv("PATH")) {
    ::setenv("PATH", directory.path().c_str(), 1);
  }
  EmptyPath(const EmptyPath&) = delete;
  ~EmptyPath() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

TEST(FinishRun, WritesEverythingThatItNames) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryDirectory out;
  RunWriter writer = writer_with_rows(out);
  const FinishedRun finished = finish_run(
      writer,
      {.charts = {{.x = "batch", .y = "step_time_s"}, {.kind = ChartKind::bar, .x = "batch", .y = "step_time_s"}},
       .expectations = {{"faster", "confirmed", "2 ms > 1 ms"}}});
  EXPECT_THAT(finished.notes, IsEmpty());
  EXPECT_EQ(finished.paths.size(), 7u);
  for (const auto& path : finished.paths) EXPECT_TRUE(std::filesystem::exists(path)) << path;
  EXPECT_TRUE(std::filesystem::exists(writer.chart_directory() / "step_time_s_by_batch.gp"));
  EXPECT_TRUE(std::filesystem::exists(writer.chart_directory() / "step_time_s_by_batch-2.svg"));
  const std::string page = read_file(writer.directory() / "report.html");
  EXPECT_THAT(page, AllOf(HasSubstr("<svg"), HasSubstr("id=\"chart2_"), HasSubstr("✓ confirmed")));
  EXPECT_THAT(read_file(out.path() / "results/index.html"), HasSubstr("href=\"e/" + writer.name() + "/report.html\""));
  EXPECT_EQ(read_run(writer.directory()).info.text("status"), "done");
}

TEST(FinishRun, RunsNoStyleThatCameWithTheFolderAndWritesThroughNoLink) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryDirectory out;
  RunWriter writer = writer_with_rows(out);
  const auto charts = writer.chart_directory();
  std::filesystem::create_directories(charts);
  const std::string planted = "system('touch " + (out.path() / "ran").string() + "')\n";
  for (const char* place : {"plots/style.gp", "plots/e/style.gp"}) replace_file(out.path() / place, planted);
  replace_file(out.path() / "victim", "precious");
  for (const char* name : {"step_time_s_by_batch.gp", "step_time_s_by_batch.svg"})
    std::filesystem::create_symlink(out.path() / "victim", charts / name);
  EXPECT_THAT(finish_run(writer, {.charts = {{.x = "batch", .y = "step_time_s"}}}).notes, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(out.path() / "ran"));
  EXPECT_EQ(read_file(out.path() / "victim"), "precious");
  EXPECT_THAT(read_file(charts / "step_time_s_by_batch.svg"), HasSubstr("<svg"));
}

TEST(FinishRun, GoesOnWithoutGnuplotAndSaysSoOnce) {
  const TemporaryDirectory out;
  RunWriter writer = writer_with_rows(out);
  const EmptyPath nothing(out);
  const FinishedRun finished =
      finish_run(writer, {.charts = {{.x = "batch", .y = "step_time_s"}, {.x = "batch", .y = "step_time_high_s"}}});
  EXPECT_THAT(finished.notes, ElementsAre(StartsWith("gnuplot is not installed, so no charts were drawn")));
  EXPECT_TRUE(std::filesystem::exists(writer.chart_directory() / "step_time_s_by_batch.gp"));
  EXPECT_THAT(read_file(writer.directory() / "report.html"), HasSubstr("gnuplot is not installed"));
  EXPECT_EQ(read_run(writer.directory()).info.find("notes")->list()->size(), 1u);
}

TEST(FinishRun, AChartThatCannotBeDrawnIsANote) {
  const TemporaryDirectory out;
  RunWriter writer = writer_with_rows(out);
  const FinishedRun finished =
      finish_run(writer, {.status = "interrupted", .charts = {{.name = "typo", .x = "bacth", .y = "loss"}}});
  EXPECT_THAT(finished.notes, Contains(StartsWith("chart typo: no column 'bacth' for x")));
  EXPECT_EQ(read_run(writer.directory()).info.text("status"), "interrupted");
}

TEST(FinishRun, AFileInThePlaceOfPlotsCostsOnlyTheCharts) {
  const TemporaryDirectory out;
  RunWriter writer = writer_with_rows(out);
  replace_file(out.path() / "plots", "a file");
  const FinishedRun finished = finish_run(writer, {.charts = {{.x = "batch", .y = "step_time_s"}}});
  EXPECT_THAT(finished.notes, Contains(StartsWith("charts: cannot make the directory '")));
  EXPECT_TRUE(std::filesystem::exists(writer.directory() / "report.html"));
}

TEST(FinishRun, ARunWithoutRowsHasNoCharts) {
  const TemporaryDirectory out;
  RunWriter writer({.experiment = "e", .title = "", .axes = {}, .extra_columns = {}, .out = out.path()});
  const FinishedRun finished = finish_run(writer, {.status = "error", .charts = {{.x = "batch", .y = "loss"}}});
  EXPECT_THAT(finished.notes, IsEmpty());
  EXPECT_THAT(read_file(writer.directory() / "report.html"), HasSubstr("No point was measured."));
}

}  // namespace
}  // namespace gpubench
