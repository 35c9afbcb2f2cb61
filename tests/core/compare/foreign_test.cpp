#include "core/compare/foreign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Foreign : public TemporaryFolder {
 protected:
  std::vector<MeasuringProcess> read(const std::string& name, const std::string& text) const {
    return read_foreign(write(name, text));
  }
  std::string mistake(const std::string& name, const std::string& text) const {
    try {
      read(name, text);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(Foreign, CsvHasAxesFiguresAndProcesses) {
  const auto processes = read("a.csv",
                              "model,threads,process,time_s,throughput\n"
                              "bert,4,first,1.5,10.5\nbert,4,second,1.6,10\ngpt,4,second,2,3.5\n");
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].name, "first");
  EXPECT_THAT(processes[0].axes, ElementsAre("model", "threads"));
  EXPECT_EQ(processes[1].records.size(), 2u);
  EXPECT_EQ(processes[1].records[1].get("time_s"), Cell(std::int64_t{2}));
}

TEST_F(Foreign, CsvWithoutProcessesIsOfOne) {
  const auto processes = read("a.csv", "name,time_s\nx,1.5\nx,1.6\n");
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].records.size(), 2u) << "repeats";
}

TEST_F(Foreign, RepetitionsOfGoogleBenchmarkAreRepeatsOfOneProcess) {
  const auto processes =
      read("a.json", R"({"context": {"host_name": "h", "num_cpus": 2, "library_build_type": "release"},
    "benchmarks": [
      {"name": "BM_x/8", "run_name": "BM_x/8", "run_type": "iteration", "repetition_index": 0, "iterations": 10,
       "real_time": 2.5, "cpu_time": 2.0, "time_unit": "us", "items_per_second": 4e5, "my counter": 1},
      {"name": "BM_x/8", "run_name": "BM_x/8", "run_type": "iteration", "repetition_index": 1, "iterations": 10,
       "real_time": 2.6, "cpu_time": 2.0, "time_unit": "us"},
      {"name": "BM_x/8_mean", "run_name": "BM_x/8", "run_type": "aggregate", "real_time": 2.55, "time_unit": "us"},
      {"name": "BM_y", "run_name": "BM_y", "run_type": "iteration", "error_occurred": true, "error_message": "no"}]})");
  ASSERT_EQ(processes.size(), 1u);
  const MeasuringProcess& process = processes[0];
  ASSERT_EQ(process.records.size(), 3u);
  EXPECT_NEAR(*number_in(process.records[0].get("real_time_s")), 2.5e-6, 1e-18);
  EXPECT_EQ(process.records[0].get("items_per_s"), Cell(4e5));
  EXPECT_EQ(to_text(process.records[2].get("status")), "error");
  EXPECT_EQ(process.info.find("machine")->text("host"), "h");
}

TEST_F(Foreign, EachTimeOfHyperfineIsAProcess) {
  const auto processes = read("a.json", R"({"results": [{"command": "sleep 1", "times": [1.0, 1.1, 1.2]}]})");
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(processes[2].records.at(0).get("time_s"), Cell(1.2));
  EXPECT_TRUE(processes[0].axes.empty()) << "the command of a single result is what is compared";
  EXPECT_EQ(processes[0].info.find("program")->text("command"), "sleep 1");
  const auto two = read("b.json", R"({"results": [{"command": "a", "parameters": {"n": "1"}, "times": [1.0]},
                                                  {"command": "b", "parameters": {"n": "2"}, "times": [2.0, 3.0]}]})");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_THAT(two[0].axes, ElementsAre("command", "n"));
  EXPECT_EQ(two[0].records.size(), 2u);
  EXPECT_EQ(two[1].records.size(), 1u);
}

TEST_F(Foreign, RunsWithinAProcessAreRepeats) {
  for (const char* header : {"process,run,time_s\n", "run,process,time_s\n"}) {
    const bool process_first = std::string(header).starts_with("process");
    std::string text = header;
    for (int process = 0; process < 4; ++process) {
      for (int run = 0; run < 2; ++run) {
        text += std::to_string(process_first ? process : run) + "," + std::to_string(process_first ? run : process) +
                ",1.5\n";
      }
    }
    const auto processes = read("a.csv", text);
    ASSERT_EQ(processes.size(), 4u) << header;
    EXPECT_EQ(processes[0].records.size(), 2u);
    EXPECT_TRUE(processes[0].axes.empty());
  }
}

TEST_F(Foreign, WhatThisProgramSaysAboutARowIsNoAxis) {
  const auto processes = read("a.csv", "experiment,n,status,quality,stop_reason,time_s\ne,1,ok,ok,enough,1.5\n");
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_THAT(processes[0].axes, ElementsAre("n"));
  EXPECT_EQ(to_text(processes[0].records.at(0).get("status")), "ok");
}

TEST_F(Foreign, FailedResultsOfOthersAreNoFigures) {
  const auto google = read("a.json", R"({"benchmarks": [{"name": "x", "run_name": "x", "run_type": "iteration",
    "real_time": 0, "time_unit": "ns", "skipped": true, "skip_message": "no device"}]})");
  EXPECT_EQ(to_text(google.at(0).records.at(0).get("status")), "skipped");
  EXPECT_EQ(to_text(google[0].records[0].get("detail")), "no device");
  EXPECT_TRUE(is_empty(google[0].records[0].get("real_time_s")));
  const auto hyperfine =
      read("b.json", R"({"results": [{"command": "x", "times": [1.0, 0.1, 0.1], "exit_codes": [0, 1, null]}]})");
  ASSERT_EQ(hyperfine.size(), 3u);
  EXPECT_EQ(hyperfine[0].records.at(0).get("time_s"), Cell(1.0));
  EXPECT_EQ(to_text(hyperfine[1].records.at(0).get("detail")), "the command ended with exit code 1");
  EXPECT_EQ(to_text(hyperfine[2].records.at(0).get("detail")), "the command ended with exit code unknown");
}

TEST_F(Foreign, FilesOfSpreadsheetsAreReadOrExplained) {
  EXPECT_THAT(read("a.csv",
                   "\xEF\xBB\xBF"
                   "case,time_s\nx,1.5\n")
                  .at(0)
                  .axes,
              ElementsAre("case"));
  EXPECT_THAT(mistake("a.csv", "case;time_s\nx;1.5\n"),
              HasSubstr("commas between fields were expected, not semicolons"));
}

TEST_F(Foreign, BadFilesSayWhatIsWrong) {
  EXPECT_THAT(mistake("a.csv", ""), AllOf(HasSubstr("a.csv"), HasSubstr("the file is empty")));
  EXPECT_THAT(mistake("a.csv", "x,time_s\n"), HasSubstr("no line follows the columns' names"));
  EXPECT_THAT(mistake("a.csv", "x,time_s\na,1.5\nb"), HasSubstr("row 2 has 1 fields; the header has 2"));
  EXPECT_THAT(mistake("a.csv", "x,y\na,b\n"), HasSubstr("no column has figures; columns: x, y"));
  EXPECT_THAT(mistake("a.csv", "x,time (s)\na,1.5\n"), HasSubstr("'time (s)' cannot name a column"));
  EXPECT_THAT(mistake("a.json", "{\"benchmarks\": ["), HasSubstr("not valid JSON"));
  EXPECT_THAT(mistake("a.json", "{\"x\": 1}"), HasSubstr("neither Google Benchmark's JSON"));
  EXPECT_THAT(mistake("a.json", R"({"benchmarks": [3]})"), HasSubstr("is no object"));
  EXPECT_THAT(mistake("a.json", R"({"benchmarks": [{"name": "x", "run_type": "aggregate"}]})"),
              HasSubstr("--benchmark_report_aggregates_only"));
  EXPECT_THAT(mistake("a.json", R"({"benchmarks": [{"name": "x", "real_time": 1, "time_unit": "fortnight"}]})"),
              HasSubstr("unknown time_unit 'fortnight'"));
  EXPECT_THAT(mistake("a.json", R"({"results": []})"), HasSubstr("it has no results"));
  EXPECT_THAT(mistake("a.json", R"({"results": [{"command": "x"}]})"), HasSubstr("'x' has no times"));
  EXPECT_THAT(mistake("a.json", R"({"results": [{"command": "x", "times": ["y"]}]})"),
              HasSubstr("a time is no number"));
}

}  // namespace
}  // namespace gpubench
