// `gpubench help` as a user calls it; what it finds is tested in tests/lua/meta.
#include "lua/host/help.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lua/host/folder.h"
#include "tests/support/generated_file.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Help : public FolderTest {
 protected:
  static std::string help(std::vector<std::string> words) {
    words.insert(words.begin(), "help");
    const Ended ended = run_program(words);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return ended.out;
  }
  static std::string refusal(std::vector<std::string> words) {
    words.insert(words.begin(), "help");
    const Ended ended = run_program(words);
    EXPECT_EQ(ended.status, 2) << ended.out;
    return ended.err;
  }
};

TEST_F(Help, ExplainsFunctionsWithTheirOptions) {
  EXPECT_THAT(help({"measure.training"}),
              AllOf(StartsWith("gb.measure.training(model, dataset [, options]): Row\n\nSteps through the dataset"),
                    HasSubstr("\nOptions (MeasureResidentOptions):\n"), HasSubstr("\n  budget (number?)  seconds of"),
                    HasSubstr("    local row = gb.measure.training(model, input, { budget = 0.1 })\n"),
                    HasSubstr("\nSee also:\n  Row  ")));
  EXPECT_THAT(help({"dataset:map"}), StartsWith("Dataset:map("));
}

TEST_F(Help, ExplainsCommandsColumnsFindingsRemediesAndStatuses) {
  const Ended direct = run_program({"watch", "--help"});
  EXPECT_EQ(help({"watch"}), direct.out);
  EXPECT_EQ(help({}), run_program({"--help"}).out);
  EXPECT_THAT(help({"input_wait_share"}), HasSubstr("  unit  share\n"));
  EXPECT_THAT(help({"input_bound"}),
              AllOf(HasSubstr("\nRule:\n"), HasSubstr("\nRemedies:\n"), HasSubstr("\nProof:\n")));
  EXPECT_THAT(help({"larger_batch"}), AllOf(HasSubstr("gpubench  "), HasSubstr("PyTorch  "), HasSubstr("Keras  ")));
  EXPECT_THAT(help({"exit", "status", "3"}), StartsWith("nothing to judge: "));
  EXPECT_THAT(help({"--set"}), AllOf(HasSubstr("  run (AXIS=VALUE"), HasSubstr("  tune (AXIS=VALUE")));
}

TEST(GeneratedFiles, TheTableOfExitStatusesIsThatOfTheProgram) {
  std::string table = "| status | meaning |\n|---|---|\n";
  for (const HelpLine& status : exit_statuses()) table += fmt::format("| {} | {} |\n", status.name, status.text);
  expect_generated_table("docs/runs.md", "| status | meaning |", table);
}

TEST(Environment, DocumentedVariablesAreInTheHelp) {
  const std::string page = repository_file("docs/processes.md");
  for (const HelpLine& variable : environment_variables()) {
    if (!variable.name.starts_with("GPUBENCH_")) continue;
    EXPECT_THAT(page, HasSubstr(fmt::format("| `{}` |", variable.name)));
  }
  for (std::size_t at = page.find("| `GPUBENCH_"); at != std::string::npos; at = page.find("| `GPUBENCH_", at + 1)) {
    const std::string name = page.substr(at + 3, page.find('`', at + 3) - at - 3);
    EXPECT_THAT(help_footer(), HasSubstr("\n  " + name + " ")) << name;
  }
}

TEST_F(Help, ListsWhatANameMeans) {
  EXPECT_THAT(help({"batch_size"}),
              AllOf(StartsWith("batch_size is several things:\n"), HasSubstr("  gpubench help column batch_size  ("),
                    HasSubstr("  gpubench help experiment batch_size  ("), HasSubstr("\nAlso:\n")));
  EXPECT_THAT(help({"layers"}), AllOf(HasSubstr("\n  gb.layers.Dense "), HasSubstr("activation(x W + b)")));
  EXPECT_THAT(help({"findings"}), AllOf(HasSubstr("  input_bound "), Not(HasSubstr("larger_batch"))));
}

TEST_F(Help, SearchesTheWholeReference) {
  EXPECT_THAT(help({"--search", "shuffle"}),
              AllOf(HasSubstr("  Dataset:shuffle "), HasSubstr(" topics; gpubench help NAME shows one\n")));
  EXPECT_THAT(refusal({"--search", "qwertz"}), StartsWith("help: no topic has 'qwertz' in its text"));
}

TEST_F(Help, SaysWhatIsNearAndHowToSearch) {
  EXPECT_THAT(refusal({"measure.trainng"}),
              AllOf(StartsWith("help: there is no topic 'measure.trainng' (did you mean 'measure.training'"),
                    HasSubstr("Try 'gpubench help --search measure.trainng'")));
  EXPECT_THAT(refusal({"--names", "colums"}), HasSubstr("help --names: there is no kind of topics 'colums'"));
}

TEST_F(Help, AnswersNamesOfOtherLibraries) {
  EXPECT_THAT(help({"Linear"}), StartsWith("no 'Linear'; here: gb.layers.Dense(units)\n\ngb.layers.Dense(units"));
  EXPECT_THAT(help({"zero_grad"}), StartsWith("no 'zero_grad'; here: nothing: a tape computes gradients anew"));
  EXPECT_THAT(refusal({"TextLineDatset"}), HasSubstr("(did you mean 'TextLineDataset'"));
}

TEST_F(Help, WritesPages) {
  EXPECT_THAT(refusal({"--pages", path() + "/nowhere"}), HasSubstr("there is no folder"));
  std::filesystem::create_directories(path() + "/pages");
  EXPECT_THAT(help({"--pages", path() + "/pages"}), StartsWith("wrote "));
  EXPECT_THAT(read("pages/index.md"), HasSubstr("[gb.layers.Dense](gb.layers.md#gb.layers.Dense)"));
  EXPECT_THAT(read("pages/gb.measure.md"),
              AllOf(HasSubstr("## gb.measure.training\n"), HasSubstr("[Row](types.md#Row)")));
}

TEST_F(Help, WritesAManualPageThatRoffReads) {
  write("gpubench.1", help({"--man"}));
  EXPECT_THAT(read("gpubench.1"), AllOf(StartsWith(".TH GPUBENCH 1 "), HasSubstr(".SH EXIT STATUS\n"),
                                        HasSubstr("\\-\\-set AXIS=VALUE[,VALUE...]\n")));
  if (std::system("command -v groff >/dev/null 2>&1") != 0) GTEST_SKIP() << "groff is not installed";
  const std::string check = "cd " + path() + " && groff -man -ww -z gpubench.1 >warnings 2>&1";
  EXPECT_EQ(std::system(check.c_str()), 0);
  EXPECT_EQ(read("warnings"), "");
}

}  // namespace
}  // namespace gpubench
