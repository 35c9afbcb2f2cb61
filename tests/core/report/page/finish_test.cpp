#include "core/report/page/finish.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/report/chart/gnuplot.h"
#include "core/results/append_file.h"
#include "core/results/run_reader.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

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
  if (drawable_formats().empty()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryDirectory out;
  RunWriter writer = writer_with_rows(out);
  const FinishedRun finished = finish_run(
      writer,
      {.charts = {{.x = "batch", .y = "step_time_s"}, {.kind = ChartKind::bar, .x = "batch", .y = "step_time_s"}},
       .expectations = {{.id = "faster", .claim = "faster", .verdict = "confirmed", .reason = "2 ms > 1 ms"}}});
  EXPECT_THAT(finished.notes, IsEmpty());
  EXPECT_EQ(finished.report, writer.directory() / "report.html");
  EXPECT_TRUE(std::filesystem::exists(writer.chart_directory() / "step_time_s_by_batch.gp"));
  EXPECT_TRUE(std::filesystem::exists(writer.chart_directory() / "step_time_s_by_batch-2.svg"));
  const std::string page = read_file(writer.directory() / "report.html");
  EXPECT_THAT(page, AllOf(HasSubstr("<svg"), HasSubstr("id=\"chart2_"), HasSubstr("✓ confirmed")));
  EXPECT_THAT(read_file(out.path() / "results/index.html"), HasSubstr("href=\"e/" + writer.name() + "/report.html\""));
  EXPECT_EQ(read_run(writer.directory()).info.text("status"), "done");
}

TEST(FinishRun, RunsNoStyleThatCameWithTheFolderAndWritesThroughNoLink) {
  if (drawable_formats().empty()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryDirectory out;
  RunWriter writer = writer_with_rows(out);
  const auto charts = writer.chart_directory();
  std::filesystem::create_directories(charts);
  const std::string planted = "system('touch " + (out.path() / "ran").string() + "')\n";
  for (const char* place : {"plots/style.gp", "plots/e/style.gp"}) replace_file(out.path() / place, planted);
  replace_file(out.path() / "victim", "precious");
  for (const char* name : {"step_time_s_by_batch.gp", "step_time_s_by_batch.svg"})
    std::filesystem::create_symlink(out.path() / "victim", charts / name);
  EXPECT_THAT(finish_run(writer, {.charts = {{.x = "batch", .y = "step_time_s"}}}).notes,
              ElementsAre(AllOf(HasSubstr("step_time_s_by_batch.gp"), HasSubstr("a link, which is not followed"))));
  EXPECT_FALSE(std::filesystem::exists(out.path() / "ran"));
  EXPECT_EQ(read_file(out.path() / "victim"), "precious");
}

TEST(FinishRun, GoesOnWithoutGnuplotAndSaysSoOnce) {
  const TemporaryDirectory out;
  RunWriter writer = writer_with_rows(out);
  const EmptyPath nothing(out);
  const FinishedRun finished =
      finish_run(writer, {.charts = {{.x = "batch", .y = "step_time_s"}, {.x = "batch", .y = "step_time_high_s"}}});
  EXPECT_THAT(finished.notes, ElementsAre(StartsWith("gnuplot is not installed, so no charts were drawn")));
  EXPECT_TRUE(std::filesystem::exists(writer.chart_directory() / "step_time_s_by_batch.gp"));
  EXPECT_THAT(read_file(writer.directory() / "report.html"),
              AllOf(HasSubstr("gnuplot is not installed"), HasSubstr("<details class=\"figures\" open>"),
                    HasSubstr("<td class=\"right\">2</td><td>1.9 to 2.2</td>")));
  EXPECT_EQ(read_run(writer.directory()).info.find("notes")->list()->size(), 1u);
}

TEST(FinishRun, DrawsTheFormatsThatAreAskedFor) {
  const ChartFormats all{ChartFormat::svg, ChartFormat::png, ChartFormat::pdf};
  if (drawable_formats() != all) GTEST_SKIP() << "gnuplot is not installed, or has no pngcairo or pdfcairo";
  const TemporaryDirectory out;
  std::filesystem::path run, folder;
  {
    RunWriter writer = writer_with_rows(out);
    const std::vector<ChartSpec> charts{{.name = "c", .x = "batch", .y = "step_time_s"}};
    EXPECT_THAT(finish_run(writer, {.charts = charts, .formats = {ChartFormat::pdf}}).notes, IsEmpty());
    run = writer.directory();
    folder = writer.chart_directory();
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "c.pdf"));
  EXPECT_TRUE(std::filesystem::exists(folder / "c.svg")) << "the report embeds it";
  EXPECT_FALSE(std::filesystem::exists(folder / "c.png"));
  const std::string link = "../../../plots/e/" + run.filename().string() + "/c.";
  const auto page = [&] { return read_file(run / "report.html"); };
  EXPECT_THAT(page(), AllOf(HasSubstr("href=\"" + link + "pdf\""), HasSubstr("href=\"" + link + "gp\"")));
  EXPECT_FALSE(finish_stored(run));
  EXPECT_TRUE(finish_stored(run, {ChartFormat::png})) << "the run has no such files yet";
  EXPECT_TRUE(std::filesystem::exists(folder / "c.png"));
  EXPECT_THAT(page(), HasSubstr("href=\"" + link + "png\""));
  EXPECT_EQ(read_run(run).info.text("status"), "done");
}

TEST(FinishRun, AGnuplotWithoutTheTerminalIsANote) {
  const TemporaryDirectory out;
  RunWriter writer = writer_with_rows(out);
  const EmptyPath only_ours(out);
  // As one that was built without cairo: it lists its terminals, and draws what it is asked for.
  replace_file(out.path() / "gnuplot",
               "#!/bin/sh\nif [ \"$2\" = -e ]; then echo ' dumb svg '; else echo '<svg><title>Gnuplot</title></svg>' > "
               "c.svg; fi\n");
  std::filesystem::permissions(out.path() / "gnuplot", std::filesystem::perms::owner_all);
  const FinishedRun finished =
      finish_run(writer, {.charts = {{.name = "c", .x = "batch", .y = "step_time_s"}}, .formats = {ChartFormat::png}});
  EXPECT_THAT(finished.notes, ElementsAre(StartsWith("gnuplot has no terminal 'pngcairo', so no charts were drawn as "
                                                     "png; install a gnuplot that has it")));
  EXPECT_THAT(read_file(writer.directory() / "report.html"), HasSubstr("<svg>"));
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

/// The directory of a run that announced a chart and two claims, wrote a row and was killed.
std::filesystem::path died_run_with_chart(const TemporaryDirectory& out) {
  const pid_t process = ::fork();
  if (process == 0) {
    RunWriter writer = writer_with_rows(out);
    announce(writer, {{.name = "chosen", .x = "batch", .y = "step_time_s", .log_x = 2}, {.x = "bacth", .y = "loss"}},
             {{.claim = "it rises"}, {.claim = "it falls"}});
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(process, nullptr, 0);
  return list_runs(out.path()).at(0).directory;
}

TEST(FinishStored, WritesWhatARunThatDiedLacks) {
  if (drawable_formats().empty()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryDirectory out;
  const auto directory = died_run_with_chart(out);
  const std::string rows = read_file(directory / "results.csv");
  replace_file(directory / "results.csv", rows + "e,7,\"torn");
  const std::optional<FinishedRun> finished = finish_stored(directory);
  ASSERT_TRUE(finished);
  EXPECT_TRUE(std::filesystem::exists(finished->report));
  EXPECT_THAT(finished->notes, ElementsAre(StartsWith("chart of loss by bacth: no column 'bacth' for x"),
                                           "The program ended before the run did: points may be missing."));
  EXPECT_EQ(read_file(directory / "results.csv"), rows);
  const auto run = read_run(directory);
  EXPECT_EQ(run.info.text("status"), "died");
  EXPECT_EQ(run.info.text("rows"), std::to_string(run.records.size()));
  EXPECT_THAT(run.info.text("finished"), testing::MatchesRegex("20[0-9-]+T[0-9:]+Z"));
  EXPECT_EQ(run.info.find("charts")->list()->size(), 1u);
  const std::string page = read_file(directory / "report.html");
  EXPECT_THAT(page, AllOf(HasSubstr("<svg"), HasSubstr("it rises"), HasSubstr("it falls"), HasSubstr("? open"),
                          HasSubstr("the run ended before its claims were judged")));
  EXPECT_TRUE(std::filesystem::exists(out.path() / "plots/e" / directory.filename() / "chosen.svg"));
  EXPECT_THAT(read_file(out.path() / "results/index.html"), HasSubstr("died"));
  EXPECT_FALSE(finish_stored(directory)) << "it has its report";
}

TEST(FinishStored, LeavesARunAloneThatIsStillWritten) {
  const TemporaryDirectory out;
  const RunWriter writer = writer_with_rows(out);
  EXPECT_ERROR(HasSubstr("finish: a process still writes '"), finish_stored(writer.directory()));
  EXPECT_FALSE(std::filesystem::exists(writer.directory() / "report.html"));
}

TEST(FinishStored, FollowsNoLinkInItsFolders) {
  const TemporaryDirectory out, elsewhere;
  const auto directory = died_run_with_chart(out);
  for (const char* name : {"chosen.svg", "chosen.gp"}) replace_file(elsewhere.path() / name, "precious");
  for (const std::filesystem::path place : {"plots", "plots/e"}) {
    std::filesystem::create_directories((out.path() / place).parent_path());
    std::filesystem::create_directory_symlink(elsewhere.path(), out.path() / place);
    EXPECT_ERROR(AllOf(StartsWith("finish: '" + (out.path() / place).string()),
                       HasSubstr("is a link, and links in an output folder")),
                 finish_stored(directory, {ChartFormat::svg}));
    std::filesystem::remove(out.path() / place);
  }
  std::filesystem::rename(out.path() / "results", elsewhere.path() / "results");
  std::filesystem::create_directory_symlink(elsewhere.path() / "results", out.path() / "results");
  EXPECT_THROW(finish_stored(directory), Error);
  EXPECT_FALSE(std::filesystem::exists(elsewhere.path() / "results/e" / directory.filename() / "report.html"));
  EXPECT_EQ(read_file(elsewhere.path() / "chosen.svg"), "precious");
}

TEST(FinishStored, TrustsNothingInTheFilesOfARun) {
  const TemporaryDirectory out;
  const auto directory = died_run_with_chart(out);
  Info info = parse_json(read_file(directory / "run.json"), "run.json");
  info.set("experiment", "../../../outside");
  info.set("charts", Info::List{Info::Fields{{"kind", "pie"}}});
  replace_file(directory / "run.json", to_json(info));
  EXPECT_THAT(finish_stored(directory)->notes, Contains(HasSubstr("unknown chart")));
  EXPECT_FALSE(std::filesystem::exists(out.path().parent_path() / "outside"));
}

TEST(FinishUnjudged, EndsWithWhatWasAnnounced) {
  const TemporaryDirectory out;
  RunWriter writer = writer_with_rows(out);
  announce(writer, {}, {{.claim = "it rises"}});
  finish_unjudged(writer, "interrupted");
  const auto run = read_run(writer.directory());
  EXPECT_EQ(run.info.text("status"), "interrupted");
  EXPECT_EQ(run.info.find("expectations")->list()->at(0).text("verdict"), "inconclusive");
  EXPECT_THAT(read_file(writer.directory() / "report.html"), HasSubstr("it rises"));
}

TEST(WriteIndex, IsWrittenBesideAProcessThatKeepsTheFolder) {
  const TemporaryDirectory out;
  std::filesystem::create_directories(out.path() / "results");
  const int held = ::open((out.path() / "results").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  EXPECT_TRUE(std::filesystem::exists(write_index(out.path())));
  ::close(held);
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
