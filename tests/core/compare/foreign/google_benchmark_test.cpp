#include <cmath>
#include <gmock/gmock.h>

#include "tests/core/compare/foreign/corpus.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class GoogleBenchmark : public ForeignFiles {};

TEST_F(GoogleBenchmark, RepetitionsAreRepeatsOfOneProcess) {
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
  EXPECT_NEAR(figure_in(process.records[0], "real_time_s"), 2.5e-6, 1e-18);
  EXPECT_EQ(process.records[0].get("items_per_s"), Cell(4e5));
  EXPECT_EQ(process.records[0].get("my_counter"), Cell(1.0));
  EXPECT_EQ(to_text(process.records[2].get("status")), "error");
  EXPECT_EQ(process.info.find("machine")->text("host"), "h");
  EXPECT_EQ(process.writer, "Google Benchmark");
}

/// One benchmark of each version's file, and how many repetitions it has.
struct Version {
  std::string file, benchmark;
};

class GoogleBenchmarkVersions : public ::testing::TestWithParam<Version> {};

TEST_P(GoogleBenchmarkVersions, HaveRepetitionsAndNoStatistics) {
  const auto processes = read_corpus("google_benchmark/" + GetParam().file);
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(rows_with(processes[0], "benchmark", GetParam().benchmark).size(), 2u);
  for (const std::string& name : values_of_axis(processes[0], "benchmark")) {
    for (const char* ending : {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"})
      EXPECT_FALSE(name.ends_with(ending)) << name;
  }
  const auto failed = rows_with(processes[0], "benchmark", "fails");
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(to_text(failed[0].get("status")), "error");
  EXPECT_EQ(to_text(failed[0].get("detail")), "no device");
}

TEST_P(GoogleBenchmarkVersions, CountersThatAreNoNumbersAreKept) {
  const MeasuringProcess process = read_corpus("google_benchmark/" + GetParam().file).at(0);
  std::size_t nan = 0, infinite = 0;
  for (const Record& record : process.records) {
    for (const auto& [name, cell] : record.cells()) {
      nan += number_in(cell) && std::isnan(*number_in(cell));
      infinite += number_in(cell) && std::isinf(*number_in(cell));
    }
  }
  EXPECT_EQ(nan, 1u);
  EXPECT_EQ(infinite, 1u);
}

INSTANTIATE_TEST_SUITE_P(Corpus, GoogleBenchmarkVersions,
                         ::testing::Values(Version{"2018.json", "sum/64/repeats:2"},
                                           Version{"2019.json", "sum/64/repeats:2"},
                                           Version{"1.6.1.json", "sum_list/8/repeats:2"},
                                           Version{"1.7.1.json", "sum/64/repeats:2"},
                                           Version{"1.9.5.json", "sum_list/8/repeats:2"}));

TEST_F(GoogleBenchmark, ManualTimesAndUnitsAreThoseOfTheFile) {
  const MeasuringProcess process = read_corpus("google_benchmark/1.7.1.json").at(0);
  const auto manual = rows_with(process, "benchmark", "manual/iterations:3/manual_time");
  ASSERT_EQ(manual.size(), 1u);
  EXPECT_NEAR(figure_in(manual[0], "real_time_s"), 1e-3, 1e-12);
}

TEST_F(GoogleBenchmark, BenchmarksOfOneNameAreRowsOfTheirOwn) {
  const auto named = [&](const std::string& first, const std::string& second) {
    return values_of_axis(
        read("a.json", R"({"benchmarks": [{"name": "x", "real_time": 100, "time_unit": "ns", )" + first +
                           R"(}, {"name": "x", "real_time": 900, "time_unit": "ns", )" + second + "}]}")
            .at(0),
        "benchmark");
  };
  EXPECT_THAT(named(R"("family_index": 0, "per_family_instance_index": 0)",
                    R"("family_index": 1, "per_family_instance_index": 0)"),
              ElementsAre("x", "x (2)"));
  EXPECT_THAT(named(R"("family_index": 0, "per_family_instance_index": 0)",
                    R"("family_index": 0, "per_family_instance_index": 0)"),
              ElementsAre("x"));
  EXPECT_THAT(named(R"("repetition_index": 0)", R"("repetition_index": 0)"), ElementsAre("x", "x (2)"));
  EXPECT_THAT(named(R"("repetition_index": 0)", R"("repetition_index": 1)"), ElementsAre("x"));
}

TEST_F(GoogleBenchmark, ABenchmarkMayBeNamedLikeAStatistic) {
  const auto processes = read("a.json", R"({"benchmarks": [
    {"name": "x", "real_time": 1, "time_unit": "ns"}, {"name": "x_mean", "real_time": 2, "time_unit": "ns"}]})");
  EXPECT_THAT(values_of_axis(processes.at(0), "benchmark"), ElementsAre("x", "x_mean"));
}

TEST_F(GoogleBenchmark, SkippedIsNoFigure) {
  const auto processes = read("a.json", R"({"benchmarks": [{"name": "x", "run_name": "x", "run_type": "iteration",
    "real_time": 0, "time_unit": "ns", "skipped": true, "skip_message": "no device"}]})");
  const Record& row = processes.at(0).records.at(0);
  EXPECT_EQ(to_text(row.get("status")), "skipped");
  EXPECT_EQ(to_text(row.get("detail")), "no device");
  EXPECT_TRUE(is_empty(row.get("real_time_s")));
}

TEST_F(GoogleBenchmark, FilesWithoutRepetitionsSayHowToGetThem) {
  for (const char* file : {"1.7.1_aggregates_only.json", "2019_aggregates_only.json"}) {
    EXPECT_THAT(mistake_in(corpus_file(std::string("google_benchmark/") + file)),
                AllOf(HasSubstr(file), HasSubstr("--benchmark_report_aggregates_only")));
  }
  EXPECT_THAT(mistake("a.json", R"({"context": {}, "benchmarks": []})"),
              AllOf(HasSubstr("'benchmarks' is empty"), Not(HasSubstr("aggregates_only"))));
  const std::string table = contents(corpus_file("google_benchmark/1.7.1.csv"));
  EXPECT_THAT(mistake("a.csv", table), HasSubstr("--benchmark_out_format=json"));
  EXPECT_THAT(mistake("a.csv", "2026-01-02T03:04:05+00:00\nRun on (2 X 2000 MHz CPU s)\n" + table),
              HasSubstr("--benchmark_out_format=json"))
      << "with the lines that --benchmark_out writes above it";
}

TEST_F(GoogleBenchmark, MistakesNameFileAndEntry) {
  EXPECT_THAT(mistake("a.json", R"({"context": {}, "benchmarks": [3]})"),
              HasSubstr("a.json: entry 1 of 'benchmarks' is no object"));
  EXPECT_THAT(mistake("a.json", R"({"context": {}, "benchmarks": {}})"), HasSubstr("'benchmarks' is no list"));
  EXPECT_THAT(mistake("a.json", R"({"benchmarks": [{"name": "x", "real_time": 1, "time_unit": "fortnight"}]})"),
              HasSubstr("entry 1 of 'benchmarks' ('x'): unknown time_unit 'fortnight'; ns, us, ms and s are possible"));
  EXPECT_THAT(
      mistake("a.json", R"({"benchmarks": [{"name": "x", "real_time": 1, "time_unit": "ns", "a b": 1, "a_b": 2}]})"),
      HasSubstr("two counters would be the column 'a_b'"));
  EXPECT_THAT(mistake("a.json", R"({"benchmarks": [{"name": "x", "real_time": "1", "time_unit": "ns"}]})"),
              HasSubstr("neither 'real_time' nor 'cpu_time' is a number"));
}

}  // namespace
}  // namespace gpubench
