// gpubench run A B C
#include "lua/host/batch.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <vector>

#include "core/results/info.h"
#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Batch : public FolderTest {
 protected:
  void SetUp() override {
    write("good.lua", "print 'good'");
    write("wrong.lua", "error('bad', 0)");
    write("killed.lua", "print 'alive' io.stdout:flush() os.execute('kill -KILL $PPID')");
    write("endless.lua", "print 'ready' io.stdout:flush() while true do end");
  }
};

TEST_F(Batch, RunsEachScriptAndSumsUp) {
  const Ended ended = run_program({"run", "wrong.lua", "good.lua", "good.lua"}, path());
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("good\n"), HasSubstr("exit status, time and script of 3 scripts:\n  2 "),
                               HasSubstr("  wrong.lua  error\n  0 "), HasSubstr("  good.lua  done\n")));
  EXPECT_THAT(ended.err, HasSubstr("bad"));
  EXPECT_EQ(run_program({"run", "good.lua", "good.lua"}, path()).status, 0);
}

TEST_F(Batch, OneThatIsKilledCostsTheOthersNothing) {
  const Ended ended = run_program({"run", "killed.lua", "good.lua", "--trusted"}, path());
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("137 "), HasSubstr("killed.lua  Killed\n"), HasSubstr("good\n")));
}

TEST_F(Batch, OutputForProgramsHoldsNothingElse) {
  write("small.lua", R"(local gb = require "gpubench"
    gb.experiment { name = "small", title = "t", axes = { gb.axis("n", { 1, 2 }) },
      columns = { gb.column("figure", { kind = "counted" }) }, run = function(point) return { figure = point.n } end,
      expect = { gb.expect.increasing { x = "n", y = "figure" } } })");
  const Ended quiet = run_program({"run", "small.lua", "small.lua", "-q", "--tag", "night"}, path());
  EXPECT_EQ(quiet.status, 0) << quiet.err;
  EXPECT_THAT(quiet.out, testing::MatchesRegex("results/small/[^/\n]*\nresults/small/[^/\n]*\n"));
  EXPECT_THAT(read(find("run.json")), HasSubstr("\"night\""));
  const Ended json = run_program({"small.lua", "--json"}, path());
  std::istringstream lines(json.out);
  std::vector<Info> all;
  for (std::string line; std::getline(lines, line);) all.push_back(parse_json(line, "a line of --json"));
  ASSERT_EQ(all.size(), 3u) << json.out;
  EXPECT_EQ(all[0].text("kind"), "row");
  EXPECT_EQ(all[1].find("row")->text("figure"), "2");
  EXPECT_EQ(all[2].text("kind"), "run");
  EXPECT_EQ((*all[2].find("expectations")->list())[0].text("id"), "figure-rises-with-n");
}

TEST_F(Batch, ChartsAreDrawnInTheFormatsThatAreAskedFor) {
  if (std::system("gnuplot -e 'set terminal pdfcairo; set terminal pngcairo' >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "gnuplot is not installed, or has no pngcairo or pdfcairo";
  write("drawn.lua", R"(local gb = require "gpubench"
    gb.experiment { name = "drawn", title = "t", axes = { gb.axis("n", { 1, 2 }) },
      columns = { gb.column("figure", { kind = "counted" }) }, run = function(point) return { figure = point.n } end,
      charts = { gb.chart.line { x = "n", y = "figure" } } })");
  const Ended ended = run_program({"drawn.lua", "--chart-format", "png"}, path());
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(read(find("figure_by_n.png")), testing::StartsWith("\x89PNG"));
  EXPECT_EQ(find("figure_by_n.pdf"), "");
  const Ended again = run_program({"finish", "drawn", "--chart-format", "pdf"}, path());
  EXPECT_THAT(again.out, HasSubstr("report: results/drawn/"));
  EXPECT_THAT(read(find("figure_by_n.pdf")), testing::StartsWith("%PDF"));
}

TEST_F(Batch, CtrlCEndsTheScriptAndBeginsNoOther) {
  StartedProgram program({"run", "endless.lua", "good.lua"}, path());
  ASSERT_TRUE(program.wait_for("ready"));
  program.signal(SIGINT);
  const Ended ended = program.end();
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(ended.out, AllOf(Not(HasSubstr("good\n")), HasSubstr("130 "), HasSubstr("endless.lua  Interrupt\n")));
  EXPECT_THAT(ended.err, HasSubstr("interrupted: 1 script not run\n"));
}

}  // namespace
}  // namespace gpubench
