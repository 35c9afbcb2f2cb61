#include "core/compare/foreign/foreign.h"

#include <gmock/gmock.h>

#include "core/compare/comparison.h"
#include "tests/core/compare/foreign/corpus.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class Foreign : public ForeignFiles {
 protected:
  /// Copies a file of the corpus.
  void take(const std::string& from, const std::string& to) const {
    fs::create_directories(file(to).parent_path());
    fs::copy_file(corpus_file(from), file(to));
  }
  std::string folder() const { return file("side").string(); }
};

TEST_F(Foreign, WriterIsToldFromTheContents) {
  EXPECT_EQ(read_corpus("google_benchmark/1.9.5.json").at(0).writer, "Google Benchmark");
  EXPECT_EQ(read_corpus("hyperfine/memory.json").at(0).writer, "hyperfine");
  EXPECT_EQ(read_corpus("nvbench/1.0.0.json").at(0).writer, "nvbench");
  EXPECT_EQ(read_corpus("nvbench/table.csv").at(0).writer, "nvbench");
  EXPECT_EQ(read_corpus("pytest_benchmark/3.0.0.json").at(0).writer, "pytest-benchmark");
  EXPECT_EQ(read_corpus("criterion/before_0.3/sum/new/estimates.json").at(0).writer, "Criterion");
  EXPECT_EQ(read("a.csv", "x,time_s\n1,1.5\n").at(0).writer, "CSV");
}

TEST_F(Foreign, UnknownFilesSayWhatIsKnown) {
  EXPECT_THAT(mistake("a.json", "{\"x\": 1}"),
              AllOf(HasSubstr("a.json: JSON of no known program; known are Google Benchmark ('context' and"),
                    HasSubstr("nvbench ("), HasSubstr("pytest-benchmark ("), HasSubstr("hyperfine ("),
                    HasSubstr("Criterion (")));
  EXPECT_THAT(mistake("a.json", "[1, 2]"), HasSubstr("JSON of no known program"));
  EXPECT_THAT(mistake("a.json", "{\"benchmarks\": ["), HasSubstr("not valid JSON"));
  EXPECT_THAT(mistake("a.json", "{\"benchmarks\": [NaN, x"), HasSubstr("damaged at byte 22"));
  EXPECT_THAT(mistake("a.json", " \n"), HasSubstr("the file is empty"));
}

TEST_F(Foreign, FilesOfAFolderAreProcessesOfOneSide) {
  take("google_benchmark/1.7.1.json", "side/1.json");
  take("google_benchmark/2019.json", "side/more/2.json");
  take("hyperfine/memory.json", "side/.hidden.json");
  write("side/notes.txt", "no results");
  const Side side = read_side(folder(), file("out"));
  ASSERT_EQ(side.processes.size(), 2u);
  EXPECT_EQ(side.processes[0].name, "1.json");
  EXPECT_EQ(side.processes[1].name, "more/2.json");
}

TEST_F(Foreign, ASideIsOfOneProgram) {
  take("google_benchmark/1.7.1.json", "side/1.json");
  take("hyperfine/memory.json", "side/2.json");
  EXPECT_THAT(side_mistake(folder()), AllOf(HasSubstr("mixes results of Google Benchmark ("), HasSubstr("1.json"),
                                            HasSubstr("and of hyperfine ("), HasSubstr("a side is of one program")));
  EXPECT_THAT(side_mistake(file("side/2.json").string() + "," + file("side/1.json").string()),
              HasSubstr("mixes results of hyperfine"));
  take("pytest_benchmark/3.0.0.json", "criterion/1.json");
  take("criterion/before_0.3/sum/new/estimates.json", "criterion/sum/new/estimates.json");
  EXPECT_THAT(side_mistake(file("criterion").string()), HasSubstr("mixes results of Criterion"));
}

TEST_F(Foreign, SidesOfTwoProgramsHaveNoCommonRowAndSayWhy) {
  const std::vector<std::string> sides{corpus_file("google_benchmark/2019.json").string(),
                                       corpus_file("hyperfine/memory.json").string()};
  const Comparison comparison = compare_sides(read_sides(sides, file("out")));
  EXPECT_EQ(comparison.common_rows, 0u);
  EXPECT_THAT(comparison.why_no_common_row, AllOf(HasSubstr("benchmark is on one side only"),
                                                  HasSubstr("the files' program is Google Benchmark and hyperfine")));
}

TEST_F(Foreign, AWrongFileInAFolderIsNamed) {
  take("google_benchmark/1.7.1.json", "side/1.json");
  write("side/package.json", "{\"name\": \"x\"}");
  EXPECT_THAT(side_mistake(folder()), AllOf(HasSubstr("package.json"), HasSubstr("no known program")));
}

TEST_F(Foreign, AFolderWithoutFilesHasNoResults) {
  fs::create_directory(file("side"));
  EXPECT_THAT(side_mistake(folder()), HasSubstr("no results of others (.csv, .json)"));
}

}  // namespace
}  // namespace gpubench
