// What a run prints while it goes on: on terminals of several widths, into a file, and where something is wrong.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <regex>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "core/report/text/text.h"
#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* small_sweep = R"(
local gb = require "gpubench"
gb.experiment {
  name = "small", title = "A small sweep", QUESTION
  axes = { gb.axis("layer", { "dense", "convolution" }), gb.axis("n", { 1, 2, 1000 }) },
  columns = { gb.column("parts", { kind = "counted" }), gb.column("copied_bytes", { kind = "counted" }),
              gb.column("some_figure_with_a_long_name", { kind = "counted" }) },
  skip = function(point) if point.layer == "convolution" and point.n == 2 then return "two are too few" end end,
  run = function(point)
    if point.layer == "convolution" and point.n == 1000 then error "größer als möglich, äöü" end
    return { parts = 3 * point.n, copied_bytes = 1024.0 * point.n, some_figure_with_a_long_name = point.n / 7 }
  end,
  charts = {
    gb.chart.line { x = "n", y = "copied_bytes", series = "layer" },
    gb.chart.line { x = "n", y = "some_figure_with_a_long_name", series = "layer" },
  },
  expect = { gb.expect.increasing { x = "n", y = "parts", by = "layer", answer = "More of n, more parts" } },
}
)";

std::string small_sweep_with(const std::string& question) {
  std::string text = small_sweep;
  return text.replace(text.find("QUESTION"), 8, question);
}

class TerminalTest : public FolderTest {
 protected:
  /// All that the program writes to a terminal of so many columns.
  std::string in_terminal(unsigned short columns, std::vector<std::string> arguments,
                          const std::string& kind = "xterm-256color") const {
    winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    int terminal = -1;
    const pid_t process = forkpty(&terminal, nullptr, nullptr, &size);
    if (process == 0) {
      for (const char* name : {"NO_COLOR", "XTERM_VERSION", "STY"}) unsetenv(name);
      setenv("TERM", kind.c_str(), 1);
      std::string name = GPUBENCH_PROGRAM;
      std::vector<char*> argv{name.data()};
      for (std::string& argument : arguments) argv.push_back(argument.data());
      argv.push_back(nullptr);
      if (chdir(path().c_str()) != 0) _exit(127);
      execv(name.c_str(), argv.data());
      _exit(127);
    }
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t count = 0; (count = read_from(terminal, buffer)) > 0;)
      text.append(buffer.data(), static_cast<std::size_t>(count));
    close(terminal);
    waitpid(process, nullptr, 0);
    return text;
  }

  /// Without the line that is drawn again and again; what stays on the terminal.
  static std::string lasting(std::string text) {
    text = std::regex_replace(text, std::regex("\r[^\r\n\x1b]*\x1b\\[K"), "");
    text = std::regex_replace(text, std::regex("\r\x1b\\[J"), "");
    return std::regex_replace(text, std::regex("\r\n"), "\n");
  }
  static std::string without_color(const std::string& text) {
    return std::regex_replace(text, std::regex("\x1b\\[[0-9]*m"), "");
  }

 private:
  static ssize_t read_from(int descriptor, std::array<char, 4096>& buffer) {
    ssize_t count = 0;
    do {
      count = ::read(descriptor, buffer.data(), buffer.size());
    } while (count < 0 && errno == EINTR);
    return count;  // below 0: the program has ended
  }
};

TEST_F(TerminalTest, RowsFitTheWindow) {
  write("script.lua", small_sweep_with("question = 'How many parts?',"));
  constexpr std::array<unsigned short, 5> windows{20, 60, 80, 120, 200};
  for (const unsigned short columns : windows) {
    for (const char* color : {"always", "never"}) {
      const std::string all = lasting(in_terminal(columns, {"script.lua", "--color", color}));
      const std::string text = without_color(all);
      EXPECT_EQ(all != text, std::string(color) == "always");
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_EQ(one_line(line), line) << "control characters, or broken UTF-8";
        const bool may_be_long = line.starts_with("run ") || line.starts_with("report: ") ||
                                 line.starts_with("small: ") || line.find(' ') == std::string::npos;
        // Messages on standard error name their whole reason.
        if (may_be_long || line.find("error: script.lua") != std::string::npos) continue;
        EXPECT_LE(display_width(line), std::max<std::size_t>(columns, 60)) << line;
      }
      EXPECT_THAT(text, AllOf(StartsWith("small: A small"), HasSubstr("layer"), HasSubstr("answer:")));
    }
  }
}

TEST_F(TerminalTest, NarrowWindowsKeepAxesAndWideOnesShowAll) {
  write("script.lua", small_sweep_with(""));
  const std::string wide = lasting(in_terminal(200, {"script.lua", "--color", "never"}));
  EXPECT_THAT(wide, HasSubstr("\n\nlayer           n   parts    copied  some figure with a long name\n"
                              "-----------  ----  ------  --------  ----------------------------\n"
                              "dense           1       3     1 KiB                        0.1429\n"
                              "dense           2       6     2 KiB                        0.2857\n"
                              "dense        1000    3000  1000 KiB                         142.9\n"
                              "convolution     1       3     1 KiB                        0.1429\n"));
  EXPECT_THAT(wide, HasSubstr("\nconvolution  1000  error\n")) << "why was printed on this terminal when it happened";
  EXPECT_THAT(wide, HasSubstr("\nlayer=convolution n=1000: error: script.lua:10: größer als möglich, äöü\n"));
  EXPECT_THAT(wide, HasSubstr("\n1 point skipped: two are too few\n"));
  const std::string narrow = lasting(in_terminal(60, {"script.lua", "--color", "never"}));
  EXPECT_THAT(narrow, HasSubstr("\n\nlayer           n   parts    copied\n"));
  EXPECT_THAT(narrow, HasSubstr("\n1 column not shown; --wide shows all\n"));
  EXPECT_THAT(lasting(in_terminal(60, {"script.lua", "--color", "never", "--wide"})),
              HasSubstr("some figure with a long name\n"));
  EXPECT_THAT(lasting(in_terminal(20, {"script.lua", "--color", "never"})), HasSubstr("\nlayer"));
}

TEST_F(TerminalTest, EachRowIsPrintedOnce) {
  write("script.lua", small_sweep_with(""));
  const std::string text = lasting(in_terminal(200, {"script.lua", "--color", "never"}));
  const std::regex row("\ndense +1 ");
  EXPECT_EQ(std::distance(std::sregex_iterator(text.begin(), text.end(), row), std::sregex_iterator()), 1);
}

TEST_F(TerminalTest, ALineShowsWhereTheSweepStands) {
  write("script.lua", R"(
local gb = require "gpubench"
gb.experiment {
  name = "small", title = "A small sweep", axes = { gb.axis("n", { 1, 2, 3 }) },
  run = function(point)
    if point.n == 2 then error "no" end
    return { figure_per_s = 1.0 * point.n }
  end,
  expect = { gb.expect.increasing { x = "n", y = "figure_per_s" } },
})");
  const std::string text = in_terminal(60, {"script.lua"});
  EXPECT_THAT(text, AllOf(HasSubstr(" s left  1/3, round 1/12  preparing  n=1\x1b[K"),
                          HasSubstr(" left  3/3, round 12/12  preparing  n=3\x1b[K"), HasSubstr("\r\x1b[J"),
                          HasSubstr("\x1b[31merror\x1b[0m\r\n"), HasSubstr("\x1b[33m? open:\x1b[0m ")));
}

TEST_F(TerminalTest, ADumbTerminalGetsNoEscapes) {
  write("script.lua", small_sweep_with(""));
  const std::string text = in_terminal(80, {"script.lua"}, "dumb");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::regex_replace(text, std::regex("\r\n"), "").find('\r'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("dense           1       3     1 KiB"));
}

TEST_F(TerminalTest, WhatAScriptPrintsIsNotMixedWithTheLine) {
  write("script.lua", R"(require("gpubench").experiment { name = "e", title = "t",
    run = function() print "from the script" return { parts = 1 } end })");
  EXPECT_THAT(in_terminal(80, {"script.lua"}), HasSubstr("\r\x1b[J"
                                                         "from the script\r\n"));
}

TEST_F(TerminalTest, RowsGoIntoAFileAsTheyFinish) {
  write("script.lua", R"(
local gb = require "gpubench"
gb.experiment {
  name = "slow", title = "t", axes = { gb.axis("n", { 1, 20, 3 }) },
  columns = { gb.column("parts", { kind = "counted" }) },  -- no load of the machine makes a row doubtful
  run = function(point)
    while point.n == 3 and not io.open "go" do end
    return { parts = 7.5 * point.n }
  end,
})");
  StartedProgram program({"script.lua"}, path());
  ASSERT_TRUE(program.wait_for("n   parts\n--  ------\n 1     7.5\n20     150\n"));
  write("go", "");
  const Ended ended = program.end();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("20     150\n 3    22.5\nreport: "), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(ended.err, "");
}

TEST_F(TerminalTest, AReaderThatTakesNothingDoesNotStopTheSweep) {
  write("script.lua", R"(
local gb = require "gpubench"
local values = {}
for n = 1, 250 do values[n] = n end
gb.experiment { name = "many", title = "t", axes = { gb.axis("n", values) },
  run = function(point) return { word = string.rep("x", 400), parts = 7.5 } end })");
  // The shell reads nothing before the run's last file is there.
  const std::string command = "cd " + path() +
                              " && ('" GPUBENCH_PROGRAM "' script.lua; echo \"status $?\" >status) | (" +
                              "until ls results/many/*/report.html >/dev/null 2>&1; do :; done; cat >out)";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read("status"), "status 0\n");
  const std::string out = read("out");
  EXPECT_EQ(std::count(out.begin(), out.end(), 'x') / 400, 250);
}

TEST_F(TerminalTest, AnExperimentNeedsNoQuestionAndAnAnswerMayFail) {
  const Ended none = run(small_sweep_with(""), {"--set", "layer=dense"});
  EXPECT_EQ(none.status, 0) << none.err;
  EXPECT_THAT(none.out, StartsWith("small: A small sweep\nrun "));
  const Ended failing =
      run(small_sweep_with("answer = function(rows) return rows[1].nothing.at_all end,"), {"--set", "layer=dense"});
  EXPECT_EQ(failing.status, 0);
  EXPECT_THAT(failing.err, HasSubstr("the function 'answer' failed: script.lua:4: attempt to index a nil value"));
  EXPECT_THAT(failing.out, HasSubstr("\nanswer: More of n, more parts"));
}

TEST_F(TerminalTest, MistakesAreNamedBeforeAnythingIsMeasured) {
  const Ended folder = run_program({"."}, path());
  EXPECT_EQ(folder.status, 2);
  EXPECT_THAT(folder.err, HasSubstr("run: '.' is a folder; a script is expected"));

  write("sized.lua", R"(local gb = require "gpubench"
gb.experiment { name = "e", title = "t", axes = { gb.axis("device", { "cpu:0" }), gb.axis("batch_size", { 1, 2 }) },
  run = function() return { parts = 1 } end })");
  const Ended zero = run_program({"sized.lua", "--set", "batch_size=0", "--dry-run"}, path());
  EXPECT_EQ(zero.status, 2);
  EXPECT_EQ(zero.err, "sized.lua:2: --set batch_size=0: possible: whole numbers from 1\n");
  const Ended device = run_program({"sized.lua", "--set", "device=gpu:77", "--dry-run"}, path());
  EXPECT_EQ(device.status, 2);
  EXPECT_THAT(device.err, StartsWith("sized.lua:2: --set device=gpu:77: possible: cpu:0"));
}

}  // namespace
}  // namespace gpubench
