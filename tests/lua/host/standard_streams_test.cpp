#include "lua/host/standard_streams.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class StandardStreams : public FolderTest {
 protected:
  /// Runs a sweep whose second point fails by a shell, with `redirections` behind the command; its exit status.
  int shell(const std::string& redirections, const std::string& shell_options = "") const {
    write("script.lua", R"(
local gb = require "gpubench"
gb.experiment {
  name = "streams", title = "The title",
  axes = { gb.axis("n", { 1, 2, 3 }) },
  charts = { gb.chart.line { x = "n", y = "figure" } },
  run = function(point)
    if point.n == 2 then error "boom" end
    return { figure = point.n }
  end,
}
print(("later "):rep(100000))
)");
    const std::string command =
        "cd " + path() + " && " + shell_options + " \"" GPUBENCH_PROGRAM "\" script.lua " + redirections;
    return WEXITSTATUS(std::system(("bash -c '" + command + "'").c_str()));
  }
  void expect_whole_files() const {
    EXPECT_THAT(read(find("results.csv")),
                AllOf(HasSubstr("streams,1,0,1,ok"), HasSubstr("streams,2,0,2,error,script.lua:8: boom"),
                      HasSubstr("streams,3,0,3,ok"), Not(HasSubstr("The title")), Not(HasSubstr("n=2"))));
    EXPECT_EQ(read(find("samples.csv")), "point,process,round,step,seconds\r\n");
    EXPECT_THAT(read(find("run.json")), HasSubstr("\"status\": \"error\""));
    EXPECT_THAT(read(find("report.html")), HasSubstr("boom"));
    EXPECT_TRUE(std::filesystem::exists(find("index.html")));
  }
};

constexpr const char* said =
    "n=2: error: script.lua:8: boom\nstreams: 1 row of 3 with status error (the first at n=2); mend it, or leave such "
    "points out with --set (exit status 2)\n";

TEST_F(StandardStreams, WhatIsPrintedToClosedOnesGoesIntoNoFile) {
  EXPECT_EQ(shell(">&- 2>error"), 2);
  expect_whole_files();
  EXPECT_EQ(read("error"), said);
}

TEST_F(StandardStreams, ErrorsOfFilesSayWhichFileAndWhat) {
  const std::string name(5000, 'a');
  const std::string command = "cd " + path() + " && \"" GPUBENCH_PROGRAM "\" " + name + " 2>error";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
  EXPECT_EQ(read("error"), "gpubench: '" + name + "': File name too long\n");
}

TEST_F(StandardStreams, EachMayBeClosedAndAllThree) {
  for (const char* closed : {"<&- >&- 2>&-", "2>&- >/dev/null", "<&- >/dev/null 2>/dev/null"}) {
    std::filesystem::remove_all(file("results"));
    EXPECT_EQ(shell(closed), 2) << closed;
    expect_whole_files();
  }
}

TEST_F(StandardStreams, AReaderThatLeavesEndsPrintingAndNotTheRun) {
  shell("2>error | true");
  expect_whole_files();
  EXPECT_EQ(read("error"), said);
}

TEST_F(StandardStreams, AReaderThatLeavesShowsInTheStatusAsForOtherPrograms) {
  write("plain.lua", "while io.write((\"x\"):rep(10000)) do end");
  EXPECT_EQ(shell("> /dev/null; \"" GPUBENCH_PROGRAM "\" plain.lua | true; exit ${PIPESTATUS[0]}"), 141);
}

TEST_F(StandardStreams, AFullDiskBehindTheStandardOutputIsNamedAndCostsNoFile) {
  EXPECT_EQ(shell("> /dev/full 2> error"), 2);
  expect_whole_files();
  write("plain.lua", "print 'x'");
  EXPECT_EQ(shell("> /dev/null; \"" GPUBENCH_PROGRAM "\" plain.lua > /dev/full 2> error"), 2);
  EXPECT_EQ(read("error"), "gpubench: not all could be written to the standard output\n");
}

TEST_F(StandardStreams, ProgramsThatAScriptStartsKnowNothingOfIt) {
  const Ended ended = run("assert(not os.execute('kill -PIPE $$'))", {"--trusted"});
  EXPECT_EQ(ended.status, 0) << "SIGPIPE did not end the shell: " << ended.err;
}

}  // namespace
}  // namespace gpubench
