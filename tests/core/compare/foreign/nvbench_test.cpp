#include <gmock/gmock.h>

#include "core/compare/comparison.h"
#include "tests/core/compare/foreign/corpus.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Nvbench : public ForeignFiles {
 protected:
  /// One benchmark with one state that has these summaries.
  static std::string json(const std::string& summaries) {
    return R"({"devices": [], "benchmarks": [{"name": "b", "states": [{"name": "s", "device": 0, "axis_values": null,
      "summaries": [)" +
           summaries + R"(], "is_skipped": false}]}]})";
  }
  static std::string summary(const std::string& name, const std::string& hint, const std::string& value) {
    return R"({"tag": "t", "name": ")" + name + R"(", "hint": ")" + hint +
           R"(", "data": [{"name": "value", "type": "float64", "value": ")" + value + R"("}]})";
  }
};

TEST_F(Nvbench, AFileIsOneProcessOfMeans) {
  const auto processes = read_corpus("nvbench/1.0.0.json");
  ASSERT_EQ(processes.size(), 1u);
  const MeasuringProcess& process = processes[0];
  EXPECT_THAT(process.axes, ElementsAre("benchmark", "device", "T", "Elements"));
  ASSERT_EQ(process.records.size(), 4u);
  const Record& first = process.records[0];
  EXPECT_EQ(figure_in(first, "gpu_time_s"), 1.25e-5);
  EXPECT_EQ(figure_in(first, "elem_per_s"), 65536 / 1.25e-5);
  EXPECT_EQ(figure_in(first, "globalmem_bw_bytes_per_s"), 8 * 65536 / 1.25e-5);
  EXPECT_EQ(figure_in(first, "bwutil_share"), 0.4);
  EXPECT_EQ(figure_in(first, "clock_rate_hz"), 1.98e9) << "hidden, but it explains times";
  for (const char* left_out : {"noise_share", "samples", "min_gpu_time_s", "walltime_s"})
    EXPECT_FALSE(first.has(left_out)) << left_out;
  EXPECT_EQ(to_text(process.records[2].get("status")), "skipped");
  EXPECT_EQ(to_text(process.records[2].get("detail")), "Not enough memory.");
  EXPECT_EQ(process.info.find("machine")->text("devices"), "NVIDIA X");
}

TEST_F(Nvbench, ATableHasTheSameRowsAndNames) {
  const MeasuringProcess json = read_corpus("nvbench/1.0.0.json").at(0), table = read_corpus("nvbench/table.csv").at(0);
  EXPECT_EQ(table.axes, json.axes);
  ASSERT_EQ(table.records.size(), json.records.size());
  for (std::size_t row = 0; row < table.records.size(); ++row) {
    for (const auto& [name, cell] : table.records[row].cells()) {
      if (number_in(cell))
        EXPECT_EQ(number_in(json.records[row].get(name)), number_in(cell)) << name;
      else
        EXPECT_EQ(to_text(json.records[row].get(name)), to_text(cell)) << name;
    }
  }
  const std::vector<std::string> sides{corpus_file("nvbench/1.0.0.json").string(),
                                       corpus_file("nvbench/table.csv").string()};
  const Comparison comparison = compare_sides(read_sides(sides, file("out")));
  EXPECT_EQ(comparison.common_rows, 3u);
  EXPECT_EQ(comparison.count(ChangeVerdict::vanished), 0u);
}

TEST_F(Nvbench, FilesBeforeVersionOneAreRead) {
  const MeasuringProcess process = read_corpus("nvbench/before_1.json").at(0);
  ASSERT_EQ(process.records.size(), 1u);
  EXPECT_EQ(figure_in(process.records[0], "gpu_time_s"), 1.25e-5);
  EXPECT_EQ(to_text(process.records[0].get("Elements")), "65536");
  EXPECT_FALSE(process.records[0].has("walltime_s"));
}

TEST_F(Nvbench, SummariesOfABenchmarksOwnAreFigures) {
  const auto processes = read("a.json", json(summary("Cold GFLOPs/s", "", "12.5") + "," + summary("Score", "", "3")));
  EXPECT_EQ(figure_in(processes.at(0).records.at(0), "cold_gflops_per_s"), 12.5);
  EXPECT_EQ(figure_in(processes[0].records[0], "score"), 3);
}

TEST_F(Nvbench, AxesOfLaterBenchmarksStandBehindTheSummariesOfATable) {
  const std::string head = "Benchmark,Device,Device Name,N,Skipped,Samples,GPU Time (sec),M\n";
  const std::string rows = "a,0,X,1,No,10,0.5,\nb,0,X,,No,10,0.25,7\n";
  write("a.csv", head + rows);
  write("b.csv", head + rows);
  const std::vector<std::string> sides{file("a.csv").string(), file("b.csv").string()};
  const std::vector<Side> read = read_sides(sides, file("out"));
  EXPECT_THAT(read[0].processes.at(0).axes, ElementsAre("benchmark", "device", "N", "M"));
}

TEST_F(Nvbench, MistakesNameFileAndState) {
  EXPECT_THAT(mistake("a.json", json(summary("X", "duration", "1") + "," + summary("X", "duration", "2"))),
              HasSubstr("a.json: 'b' [s]: two summaries would be the column 'x_s'"));
  EXPECT_THAT(mistake("a.json", R"({"devices": [], "benchmarks": [{"name": "b", "states": null}]})"),
              HasSubstr("nothing was measured"));
  EXPECT_THAT(mistake("a.csv", "Benchmark,Device,Skipped,GPU Time (sec),GPU Time (sec)\nb,0,No,1,2\n"),
              HasSubstr("a.csv: row 1: two summaries would be the column 'gpu_time_s'"));
  EXPECT_THAT(mistake("a.csv", "Benchmark,Device,N,N,Skipped,GPU Time (sec)\nb,0,1,2,No,2\n"),
              HasSubstr("two axes would be the column 'N'"));
  EXPECT_THAT(mistake("a.csv", "Benchmark,Device,Skipped,GPU Time (sec)\nb,0,No,x\n"),
              HasSubstr("a.csv: row 1: 'x' in the column 'GPU Time' is no number"));
}

}  // namespace
}  // namespace gpubench
