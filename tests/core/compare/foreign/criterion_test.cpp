#include <gmock/gmock.h>

#include "tests/core/compare/foreign/corpus.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class CriterionFiles : public ForeignFiles {
 protected:
  std::vector<MeasuringProcess> folder(const fs::path& path) const {
    return read_side(path.string(), file("out")).processes;
  }
  /// A copy of the corpus' run, whose times are of its own.
  fs::path copy(const std::string& name) const {
    fs::create_directories(file(name).parent_path());
    fs::copy(corpus_file("criterion/0.3.6"), file(name), fs::copy_options::recursive);
    return file(name);
  }
};

TEST_F(CriterionFiles, AFolderIsOneProcess) {
  const auto processes = folder(corpus_file("criterion/0.3.6"));
  ASSERT_EQ(processes.size(), 1u) << "the run before it, and what changed, are left out";
  EXPECT_THAT(values_of_axis(processes[0], "benchmark"), ElementsAre("a \"sort\"", "sum/iter/10"));
  const auto sum = rows_with(processes[0], "benchmark", "sum/iter/10");
  ASSERT_EQ(sum.size(), 1u);
  EXPECT_NEAR(figure_in(sum[0], "time_s"), 1.2496531880133637e-9, 1e-18) << "the median, which is in nanoseconds";
}

TEST_F(CriterionFiles, FoldersOfSeveralRunsAreProcesses) {
  copy("runs/1");
  copy("runs/2");
  const auto processes = folder(file("runs"));
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[1].name, "2");
  EXPECT_EQ(processes[1].records.size(), 2u);
}

TEST_F(CriterionFiles, OneFileIsOneBenchmark) {
  const auto processes = read_corpus("criterion/0.3.6/sum/iter/10/base/estimates.json");
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_THAT(values_of_axis(processes[0], "benchmark"), ElementsAre("sum/iter/10"));
}

TEST_F(CriterionFiles, OldVersionsAreNamedByTheirFolders) {
  const auto processes = folder(corpus_file("criterion/before_0.3"));
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_THAT(values_of_axis(processes[0], "benchmark"), ElementsAre("sum"));
  EXPECT_NEAR(figure_in(processes[0].records.at(0), "time_s"), 1250e-9, 1e-15);
}

TEST_F(CriterionFiles, ARunOfAnotherNameIsTakenWhereThereIsOneOnly) {
  const fs::path run = copy("run");
  fs::remove_all(run / "sum");
  fs::rename(run / "a _sort_/new", run / "a _sort_/main");
  EXPECT_EQ(folder(run).size(), 1u);
  fs::copy(run / "a _sort_/main", run / "a _sort_/other");
  EXPECT_THAT(side_mistake(run.string()), HasSubstr("Criterion's runs main, other are in it, and no 'new'"));
}

TEST_F(CriterionFiles, ChangesAreNoTimes) {
  EXPECT_THAT(mistake_in(corpus_file("criterion/0.3.6/sum/iter/10/change/estimates.json")),
              AllOf(HasSubstr("change/estimates.json"), HasSubstr("changes between two runs of Criterion, not times")));
  EXPECT_THAT(mistake_in(corpus_file("criterion/0.3.6/sum/iter/10/new/sample.json")), HasSubstr("no known program"));
  EXPECT_THAT(mistake_in(corpus_file("criterion/raw.csv")), HasSubstr("give estimates.json"));
}

TEST_F(CriterionFiles, DamagedEstimatesAreErrors) {
  const fs::path run = copy("run");
  write("run/sum/iter/10/new/estimates.json", "{\"mean\": 1}");
  EXPECT_THAT(side_mistake(run.string()), HasSubstr("these are no estimates of Criterion"));
  EXPECT_THAT(mistake("estimates.json", R"({"median": {"point_estimate": "x", "standard_error": 1}, "std_dev": {}})"),
              HasSubstr("'point_estimate' of the median is no number"));
}

}  // namespace
}  // namespace gpubench
