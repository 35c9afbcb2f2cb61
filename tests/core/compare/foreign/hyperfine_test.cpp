#include <gmock/gmock.h>

#include "core/compare/comparison.h"
#include "tests/core/compare/foreign/corpus.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Hyperfine : public ForeignFiles {
 protected:
  /// Compares two files as sides.
  Comparison compared(const std::string& before, const std::string& after) const {
    write("a.json", before);
    write("b.json", after);
    const std::vector<std::string> names{file("a.json").string(), file("b.json").string()};
    return compare_sides(read_sides(names, file("out")));
  }
};

std::string result(const std::string& command, const std::string& more = "") {
  return R"({"command": ")" + command + R"(", "times": [1.0, 1.1, 1.2])" + more + "}";
}

TEST_F(Hyperfine, EachTimeIsAProcess) {
  const auto one = read_corpus("hyperfine/one_command.json");
  ASSERT_EQ(one.size(), 8u);
  EXPECT_EQ(one[7].records.size(), 1u);
  EXPECT_EQ(one[7].writer, "hyperfine");
  const auto two = read_corpus("hyperfine/two_commands.json");
  ASSERT_EQ(two.size(), 8u);
  EXPECT_EQ(values_of_axis(two[3], "command"), (std::vector<std::string>{"sleep 0.003", "sleep 0.005"}));
}

TEST_F(Hyperfine, ParametersAreSettings) {
  const Side side = read_side(corpus_file("hyperfine/parameters.json").string(), file("out"));
  EXPECT_THAT(side.processes.at(0).axes, ElementsAre("command", "n"));
  EXPECT_EQ(values_of_axis(side.processes[0], "n"), (std::vector<std::string>{"1", "2"}));
  const auto old = read("a.json", R"({"results": [)" + result("x", R"(, "parameter": "8")") + "]}");
  EXPECT_EQ(to_text(old.at(0).records.at(0).get("parameter")), "8");
}

TEST_F(Hyperfine, CommandsAreMatchedWhateverElseIsInTheFile) {
  const Comparison comparison = compared(R"({"results": [)" + result("train") + "," + result("other") + "]}",
                                         R"({"results": [)" + result("train") + "]}");
  EXPECT_EQ(comparison.common_rows, 1u);
  EXPECT_EQ(comparison.count(ChangeVerdict::vanished), 1u) << "only 'other'";
}

TEST_F(Hyperfine, OneCommandASideIsWhatIsCompared) {
  const Comparison comparison =
      compared(R"({"results": [)" + result("old") + "]}", R"({"results": [)" + result("new") + "]}");
  EXPECT_EQ(comparison.common_rows, 1u);
  ASSERT_EQ(comparison.differences.size(), 1u);
  EXPECT_EQ(comparison.differences[0].key, "setting.command");
  EXPECT_THAT(comparison.differences[0].values, ElementsAre("old", "new"));
}

TEST_F(Hyperfine, SidesWithoutACommonCommandSaySo) {
  const Comparison comparison = compared(R"({"results": [)" + result("a") + "," + result("b") + "]}",
                                         R"({"results": [)" + result("c") + "," + result("d") + "]}");
  EXPECT_EQ(comparison.common_rows, 0u);
  EXPECT_EQ(comparison.why_no_common_row, "command is a, b and c, d");
}

TEST_F(Hyperfine, FailedRunsAreNoFigures) {
  const auto failed = read_corpus("hyperfine/failed.json");
  ASSERT_EQ(failed.size(), 3u);
  EXPECT_EQ(to_text(failed[0].records.at(0).get("detail")), "the command ended with exit code 3");
  const auto some = read("b.json", R"({"results": [{"command": "x", "times": [1.0, 0.1], "exit_codes": [0, null]}]})");
  EXPECT_EQ(some.at(0).records.at(0).get("time_s"), Cell(1.0));
  EXPECT_EQ(to_text(some.at(1).records.at(0).get("detail")), "the command ended with exit code unknown");
}

TEST_F(Hyperfine, MemoryIsAFigure) {
  EXPECT_EQ(figure_in(read_corpus("hyperfine/memory.json").at(1).records.at(0), "memory_bytes"), 1052672);
}

TEST_F(Hyperfine, MistakesNameFileAndCommand) {
  EXPECT_THAT(mistake("a.json", R"({"results": []})"), HasSubstr("a.json: it has no results"));
  EXPECT_THAT(mistake("a.json", R"({"results": [{"command": "x"}]})"), HasSubstr("'x' has no times"));
  EXPECT_THAT(mistake("a.json", R"({"results": [{"command": "x", "times": ["y"]}]})"),
              HasSubstr("time 1 of 'x' is no number"));
  EXPECT_THAT(mistake("a.json", R"({"results": [)" + result("x", R"(, "parameters": {"a b": "1", "a_b": "2"})") + "]}"),
              HasSubstr("two parameters would be the column 'a_b'"));
  EXPECT_THAT(mistake_in(corpus_file("hyperfine/table.csv")), HasSubstr("give --export-json"));
}

}  // namespace
}  // namespace gpubench
