// The suites of gpubench nightly: what they may say, and what is started for them.
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/results/info.h"
#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Suites : public FolderTest {
 protected:
  void SetUp() override {
    write("steady.lua", R"(local gb = require "gpubench"
      gb.experiment { name = "steady", title = "t", axes = { gb.axis("device", { "cpu:0" }), gb.axis("n", { 1 }) },
        columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
        run = function(point) return { device = point.device, figure_s = 1 } end,
        charts = { gb.chart.bar { x = "n", y = "figure_s" } } })");
  }
  Ended nightly(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"nightly", "night.lua"});
    return run_program(options, path());
  }
};

TEST_F(Suites, SuitesNameNoCommand) {
  write("night.lua", R"(return { minutes = 5, scripts = { "steady" }, on_alarm = "touch pwned" })");
  const Ended refused = nightly();
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("unknown option 'on_alarm'"));
}

TEST_F(Suites, ASuiteThatCannotBeRun) {
  for (const auto& [suite, message] : {
           std::pair{R"(return { minutes = 5, scripts = { "missing" } })",
                     "script 1 (missing): there is no such script"},  // one of several costs itself only
           std::pair{R"(return { minutes = 5, scripts = {} })", "it names no scripts"},
           std::pair{R"(return { minutes = 5, scripts = { "steady" }, thresholds = { figure_s = "-3 %" } })",
                     "thresholds: 'figure_s': "},
           std::pair{R"(return { minutes = 5, scripts = { "steady" }, thresholds = { figure_s = "3 % %" } })",
                     "thresholds: 'figure_s': "},
           std::pair{R"(return { minutes = 5, scripts = { "steady" }, thresholds = { "3 %" } })", "thresholds: "},
           std::pair{R"(return { scripts = { "steady" } })", "option 'minutes' is required"},
           std::pair{R"(return { minutes = -1, scripts = { "steady" } })", "a number above 0 expected"},
           std::pair{R"(return { minutes = 5, scripts = { { "steady", sett = {} } } })", "unknown option 'sett'"},
           std::pair{R"(return { minutes = 5, scripts = { { set = {} } } })",
                     "the name or file of an experiment expected"},
           std::pair{R"(return { minutes = 5, scripts = { 7 } })", "table expected, got number"},
           std::pair{R"(return { minutes = 5, scripts = { { "steady", processes = 2, launcher = "touch pwned;" } } })",
                     "launcher: 'touch pwned;' is none; possible are mpirun, srun, and without one gpubench starts"},
           std::pair{R"(return { minutes = 5, scripts = { { "steady", processes = 2, launcher = "" } } })",
                     "launcher: '' is none"},
           std::pair{R"(return { minutes = 5, scripts = { { "steady", launcher = "srun" } } })",
                     "launcher: it needs processes = N, the number that srun starts"},
           std::pair{R"(return { minutes = 5, scripts = { { "steady", processes = 0 } } })",
                     "processes: a number from 1 to 1024 expected, got 0"},
           std::pair{R"(return { minutes = 5, scripts = { { "steady", processes = 1025 } } })", "from 1 to 1024"},
           std::pair{R"(return { minutes = 5, scripts = { { "steady", processes = 2.5 } } })", "integer expected"},
           std::pair{R"(return { minutes = 5, scripts = { { "steady", processes = "8 touch" } } })",
                     "integer expected"},
           std::pair{R"(return { minutes = 5, scripts = { { "steady", processes = 2, once = false } } })",
                     "once: a script with processes = N runs once, for all devices together"},
           std::pair{R"(return { name = "../x", minutes = 5, scripts = { "steady" } })", "cannot be a file's"},
           std::pair{R"(os.execute "touch pwned")", "it can call nothing"},
           std::pair{R"(return 7)", "it must return a table"},
           std::pair{R"(return {)", "night.lua:1"},
       }) {
    write("night.lua", suite);
    const Ended ended = nightly();
    EXPECT_EQ(ended.status, 2) << suite;
    EXPECT_THAT(ended.err, HasSubstr(message)) << suite;
    EXPECT_FALSE(std::filesystem::exists(file("results"))) << "nothing was measured";
  }
  const Ended none = run_program({"nightly", "nothing"}, path());
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("there is no suite 'nothing'"), HasSubstr("hardware, nightly, quick")));
}

const std::string together = R"(local gb = require "gpubench"
  gb.experiment { name = "together", title = "t", axes = { gb.axis("n", { 1 }) },
    columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
    run = function() return { figure_s = gb.distribute.num_processes() + gb.distribute.process_index() / 10 } end,
    charts = { gb.chart.bar { x = "n", y = "figure_s" } } })";

TEST_F(Suites, AScriptOfSeveralProcessesIsShownAndNotRun) {
  write("together.lua", together);
  write("-x.lua", together);
  write(":", together);
  write("night.lua", R"(return { minutes = 5, scripts = { { "together", processes = 3 }, "steady",
    { "together", processes = 4, launcher = "mpirun" }, { "-x", processes = 5, launcher = "srun", set = { n = 2 } },
    { ":", processes = 6, launcher = "mpirun" }, { "together", processes = 7, devices = { "xpu" } } } })");
  const Ended shown = nightly({"--dry-run"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("together in 3 processes: gpubench run together.lua -q "
                                         "--out=. --tag=suite=night --workers=3\n"),
                               HasSubstr("together in 4 processes: mpirun -n 4 gpubench run "
                                         "together.lua -q --out=. --tag=suite=night\n"),
                               HasSubstr("-x in 5 processes: srun -n 5 gpubench run ./-x.lua -q "
                                         "--out=. --tag=suite=night --set=n=2\n"),
                               HasSubstr("mpirun -n 6 gpubench run ./: -q"), Not(HasSubstr("7 processes"))))
      << "no device is an xpu";
  EXPECT_FALSE(std::filesystem::exists(file("results")));
}

TEST_F(Suites, AScriptRunsInSeveralProcessesOncePerNight) {
  if (std::system("mpirun --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
  write("together.lua", together);
  for (const char* const launcher : {"", ", launcher = 'mpirun'"}) {
    write("night.lua",
          "return { minutes = 5, scripts = { { 'together', processes = 2" + std::string(launcher) + " } } }");
    const std::vector<std::string> as_root{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                           "OMPI_MCA_rmaps_base_oversubscribe=1", "ASAN_OPTIONS=detect_leaks=0"};
    const Ended ended = run_program({"nightly", "night.lua"}, path(), as_root);
    EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("together in 2 processes: done\n"), HasSubstr("1 of 1 script run")));
  }
  const Info parsed =
      parse_json(run_program({"history", "together", "--format", "json"}, path()).out, "history --format json");
  const Info* figure = nullptr;
  for (const Info& series : *parsed.find("series")->list())
    if (series.text("metric") == "figure_s") figure = &series;
  ASSERT_NE(figure, nullptr);
  ASSERT_EQ(figure->find("points")->list()->size(), 2u) << "one series, whoever starts the processes";
  for (const Info& point : *figure->find("points")->list()) EXPECT_EQ(point.text("value"), "2.05") << "the mean";
  EXPECT_EQ(figure->text("axes"), "n=1 processes=2") << "with another number of them it is another figure";
}

TEST_F(Suites, ALauncherThatIsNotThereCostsItsScriptOnly) {
  write("together.lua", together);
  write("night.lua",
        R"(return { minutes = 5, scripts = { { "together", processes = 2, launcher = "srun" }, "steady" } })");
  const Ended ended = run_program({"nightly", "night.lua"}, path(), {"PATH=/nonexistent"});
  EXPECT_EQ(ended.status, 2) << "as with any script that failed";
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("together in 2 processes: "), HasSubstr("srun"), HasSubstr("steady on cpu:0: done")));
}

}  // namespace
}  // namespace gpubench
