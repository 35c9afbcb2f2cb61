#include <gmock/gmock.h>

#include "tests/core/compare/foreign/corpus.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PytestBenchmark : public ForeignFiles {};

TEST_F(PytestBenchmark, AFileIsOneProcessWithTheMedianOfItsRounds) {
  for (const char* file : {"3.0.0.json", "5.3.1/1.json", "saved.json"}) {
    const auto processes = read_corpus(std::string("pytest_benchmark/") + file);
    ASSERT_EQ(processes.size(), 1u) << file;
    EXPECT_THAT(values_of_axis(processes[0], "benchmark"),
                ElementsAre("test_sums.py::test_sum[10]", "test_sums.py::test_sum[1000]", "test_sums.py::test_sort"));
    EXPECT_EQ(processes[0].records.size(), 3u) << file << ": rounds are no observations";
    EXPECT_EQ(processes[0].info.find("machine")->text("host"), "host");
    for (const Record& row : processes[0].records) {
      EXPECT_GT(figure_in(row, "time_s"), 1e-9);
      EXPECT_LT(figure_in(row, "time_s"), 1e-3);
    }
  }
  EXPECT_EQ(figure_in(read_corpus("pytest_benchmark/3.0.0.json").at(0).records.at(0), "time_s"),
            1.3113021850585939e-07);
}

TEST_F(PytestBenchmark, AFolderIsASideOfProcesses) {
  const Side side = read_side(corpus_file("pytest_benchmark/5.3.1").string(), file("out"));
  ASSERT_EQ(side.processes.size(), 2u);
  EXPECT_EQ(side.processes[1].name, "2.json");
}

TEST_F(PytestBenchmark, MistakesNameFileAndBenchmark) {
  EXPECT_THAT(mistake("a.json", R"({"machine_info": {}, "benchmarks": []})"), HasSubstr("no benchmark was run"));
  EXPECT_THAT(mistake("a.json", R"({"machine_info": {}, "benchmarks": [{"fullname": "x", "stats": {}}]})"),
              HasSubstr("a.json: entry 1 of 'benchmarks' ('x') has no number 'median' in 'stats'"));
  EXPECT_THAT(mistake_in(corpus_file("pytest_benchmark/table.csv")), HasSubstr("give --benchmark-json=FILE"));
}

}  // namespace
}  // namespace gpubench
