#include "lua/host/completion.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Completion : public FolderTest {
 protected:
  std::string shell(const std::string& name, const std::string& text) const {
    write("completion." + name, run_program({"completion", name}).out);
    write("test." + name, text);
    const std::string command = "cd " + path() + " && " + name + " ./test." + name + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::string output;
    std::array<char, 256> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe)) output += buffer.data();
    pclose(pipe);
    return output;
  }
  /// What bash offers for the last of the words.
  std::string bash(const std::string& words) const {
    return shell("bash", "source ./completion.bash\nCOMP_WORDS=(" GPUBENCH_PROGRAM " " + words +
                             ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_gpubench\necho \" ${COMPREPLY[@]} \"\n");
  }
};

TEST_F(Completion, BashOffersCommandsScriptsOptionsAndValues) {
  write("speed.lua", "");
  write("notes.txt", "");
  const std::string run = "20261124T041013Z-vm";
  std::filesystem::create_directories(path() + "/results/batch_size/" + run);
  std::filesystem::create_directories(path() + "/results/samples");
  std::filesystem::create_directories(path() + "/experiments");
  write("results/batch_size/" + run + "/results.csv", "");
  write("experiments/wide_layers.lua",
        "local epochs = gb.param('epochs', 3)\nlocal workers = require \"gpubench.helpers.workers\"\n"
        "gb.experiment { name = 'wide_layers', axes = { gb.axis(\"width\", { 1 }), workers.axis() } }");
  EXPECT_THAT(bash("''"), AllOf(HasSubstr(" list "), HasSubstr(" completion "), HasSubstr(" speed.lua "),
                                HasSubstr(" wide_layers "), Not(HasSubstr("notes")), Not(HasSubstr(" results "))));
  EXPECT_THAT(bash("wide"), HasSubstr(" wide_layers "));
  EXPECT_THAT(bash("run speed.lua w"), HasSubstr(" wide_layers "));
  EXPECT_THAT(bash("res"), HasSubstr(" results "));
  EXPECT_THAT(bash("speed.lua --device g"), HasSubstr(" gpu:0 "));
  EXPECT_EQ(bash("wide_layers --set ''"), " width= epochs= workers= \n");
  EXPECT_EQ(bash("run --quick experiments/wide_layers.lua --set w"), " width= workers= \n");
  EXPECT_EQ(bash("speed.lua --set ''"), "  \n") << "it has no axes";
  EXPECT_THAT(bash("d"), HasSubstr(" devices "));
  EXPECT_THAT(bash("speed.lua --"), AllOf(HasSubstr(" --set "), HasSubstr(" --dry-run "), Not(HasSubstr("--format"))));
  EXPECT_THAT(bash("--"), AllOf(HasSubstr(" --version "), HasSubstr(" --set ")));
  EXPECT_THAT(bash("speed.lua --require ''"), HasSubstr(" ok reliable device= "));
  EXPECT_THAT(bash("show --format ''"), HasSubstr(" text csv json markdown "));
  EXPECT_THAT(bash("show ''"), AllOf(HasSubstr(" batch_size "), HasSubstr(" " + run + " "), Not(HasSubstr("samples"))));
  EXPECT_THAT(bash("finish ''"), HasSubstr(" batch_size "));
  EXPECT_THAT(bash("report ''"), HasSubstr(" batch_size "));
  EXPECT_THAT(bash("completion ''"), HasSubstr(" bash zsh fish "));
  EXPECT_THAT(bash("speed.lua --budget ''"), Not(HasSubstr("--set")));
}

TEST_F(Completion, BashOffersNamesOfTheReference) {
  EXPECT_THAT(bash("help measure.t"), HasSubstr(" measure.training "));
  EXPECT_THAT(bash("help wat"), HasSubstr(" watch "));
  EXPECT_THAT(bash("help Dataset.m"), HasSubstr(" Dataset.map "));
  EXPECT_THAT(bash("compare before --figure step_time"),
              AllOf(HasSubstr(" step_time_s "), HasSubstr(" step_time_p95_s "), Not(HasSubstr("watch"))));
  EXPECT_THAT(bash("tune x.lua --remedy la"), HasSubstr(" larger_batch "));
  EXPECT_THAT(bash("tune x.lua --remedy ''"), Not(HasSubstr("kernel_search"))) << "tune does not try it on scripts";
  EXPECT_THAT(bash("tune-job --remedy ''"), HasSubstr(" pin_memory "));
  EXPECT_THAT(bash("nightly ''"), AllOf(HasSubstr(" quick "), HasSubstr(" hardware ")));
  EXPECT_THAT(bash("history ''"), HasSubstr(" batch_size "));
  EXPECT_THAT(bash("new x --kind ''"), HasSubstr(" pipeline "));
}

TEST_F(Completion, BashOffersTheValuesOfAnAxis) {
  write(
      "wide.lua",
      "gb.experiment { axes = { gb.axis(\"width\", { 8, 16, \"auto\", gb.devices()[1] }), gb.axis('d', gb.devices()) } }");
  EXPECT_EQ(bash("wide.lua --set width = ''"), " 8 16 auto \n");
  EXPECT_EQ(bash("wide.lua --set width ="), " 8 16 auto \n");
  EXPECT_EQ(bash("wide.lua --set width = 1"), " 16 \n");
  EXPECT_EQ(bash("wide.lua --set width = 8,1"), " 8,16 \n");
  EXPECT_EQ(bash("wide.lua --set d = ''"), "  \n") << "its values are not written down";
  EXPECT_THAT(bash("show --format = ''"), HasSubstr(" text csv "));
}

TEST_F(Completion, FishReadsItsScriptAndOffersTheSame) {
  if (std::system("command -v fish >/dev/null 2>&1") != 0) GTEST_SKIP() << "fish is not installed";
  write("wide.lua", "gb.experiment { axes = { gb.axis(\"width\", { 8, 16 }) } }");
  const auto fish = [&](const std::string& line) {
    return shell("fish", "source ./completion.fish\nfunction gpubench; " GPUBENCH_PROGRAM " $argv; end\ncomplete -C '" +
                             line + "'\n");
  };
  EXPECT_THAT(fish("gpubench wat"), HasSubstr("watch"));
  EXPECT_THAT(fish("gpubench show --for"), HasSubstr("--format"));
  EXPECT_THAT(fish("gpubench show --format "), HasSubstr("text"));
  EXPECT_THAT(fish("gpubench help measure.t"), HasSubstr("measure.training"));
  EXPECT_THAT(fish("gpubench wide.lua --set "), HasSubstr("width="));
  EXPECT_THAT(fish("gpubench wide.lua --set width="), AllOf(HasSubstr("width=8"), HasSubstr("width=16")));
}

TEST_F(Completion, ZshReadsItsScript) {
  if (std::system("command -v zsh >/dev/null 2>&1") != 0) GTEST_SKIP() << "zsh is not installed";
  const std::string output =
      shell("zsh", "autoload -U compinit && compinit -D\nsource ./completion.zsh\necho \"bound: $_comps[gpubench]\"\n");
  EXPECT_EQ(output, "bound: _gpubench\n");
}

TEST_F(Completion, AnUnknownShellIsAnError) {
  const Ended ended = run_program({"completion", "tcsh"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("tcsh not in {bash,zsh,fish}"));
}

}  // namespace
}  // namespace gpubench
