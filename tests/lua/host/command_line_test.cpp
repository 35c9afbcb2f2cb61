#include "lua/host/command_line.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "core/compare/stored_call.h"
#include "core/results/build_info.h"
#include "lua/host/grammar.h"
#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

Answer answer(std::vector<std::string> arguments) {
  const auto parsed = parse_command_line(std::move(arguments));
  const auto* text = std::get_if<Answer>(&parsed);
  return text ? *text : Answer{-1, "no answer"};
}

class CommandLineTest : public FolderTest {
 protected:
  CommandLineTest() : script(path() + "/x.lua") { write("x.lua", ""); }
  CommandLine line(std::vector<std::string> options) {
    options.insert(options.begin(), script);
    return line_of(options);
  }
  static CommandLine line_of(const std::vector<std::string>& words) {
    const auto parsed = parse_command_line(words);
    if (const auto* text = std::get_if<Answer>(&parsed)) ADD_FAILURE() << text->text;
    return std::get<CommandLine>(parsed);
  }
  std::string script;
};

TEST_F(CommandLineTest, RunIsTheDefaultCommand) {
  EXPECT_EQ(line({}).command, "run");
  EXPECT_EQ(line({}).script, script);
  EXPECT_EQ(std::get<CommandLine>(parse_command_line({"--quick", script})).script, script);
  EXPECT_EQ(std::get<CommandLine>(parse_command_line({"run", script})).script, script);
  EXPECT_EQ(std::get<CommandLine>(parse_command_line({"devices"})).command, "devices");
}

TEST_F(CommandLineTest, ReadsTheOptionsOfRun) {
  const CommandLine all = line({"--device", "gpu:0", "--budget", "1.5", "--wait-idle", "2.5", "--quick", "--dry-run",
                                "--strict", "--out", "o", "--seed", "7", "--threads", "3", "--trusted", "--traceback"});
  EXPECT_EQ(all.device, "gpu:0");
  EXPECT_EQ(all.budget_s, 1.5);
  EXPECT_EQ(all.wait_idle_s, 2.5);
  EXPECT_EQ(line({}).wait_idle_s, 0);
  EXPECT_EQ(line({"--wait-idle", "0"}).wait_idle_s, 0);
  EXPECT_TRUE(all.quick && all.dry_run && all.strict && all.trusted && all.traceback);
  EXPECT_EQ(all.out, "o");
  EXPECT_EQ(all.seed, 7U);
  EXPECT_EQ(all.threads, 3);
}

TEST_F(CommandLineTest, FormatsOfChartsAreListsAndAddUp) {
  EXPECT_THAT(line({"--chart-format", "svg,png", "--chart-format", "pdf"}).chart_formats,
              ElementsAre("svg", "png", "pdf"));
  EXPECT_THAT(line_of({"finish", "r", "--chart-format", "pdf"}).chart_formats, ElementsAre("pdf"));
  EXPECT_THAT(answer({script, "--chart-format", "png,gif"}).text, HasSubstr("gif not in {svg,png,pdf}"));
}

TEST_F(CommandLineTest, AxesAreListsAndAddUp) {
  EXPECT_THAT(line({"--set", "batch=8,512", "--set", "device=cpu:0", "--set", "batch=1"}).axes,
              ElementsAre(Pair("batch", ElementsAre("8", "512", "1")), Pair("device", ElementsAre("cpu:0"))));
}

TEST_F(CommandLineTest, RequirementsAreListsAndAddUp) {
  EXPECT_THAT(line({"--require", "ok,device=/GPU:1", "--require", "device=cpu", "--require=ok,reliable"}).require,
              ElementsAre("ok", "device=gpu:1", "device=cpu:0", "reliable"));
  EXPECT_THAT(line({}).require, IsEmpty());
  const std::string possible = "possible: ok, reliable, device=NAME with a name such as gpu:0";
  for (const char* wrong : {"", "good", "device", "device=", "ok,", "ok,,reliable", "OK"}) {
    const Answer refused = answer({script, "--require", wrong});
    EXPECT_EQ(refused.status, 2) << wrong;
    EXPECT_THAT(refused.text, AllOf(StartsWith("gpubench: run: --require: '"), HasSubstr(possible))) << wrong;
  }
  EXPECT_THAT(answer({script, "--require", "device=tpu:0"}).text,
              HasSubstr("'tpu:0' names no device; write cpu:0, gpu:1, /GPU:0 or emulated:h200:0"));
}

TEST_F(CommandLineTest, ExperimentsAreFoundByTheirName) {
  const auto file_of = [&](const std::vector<std::string>& words) { return line_of(words).script; };
  EXPECT_THAT(file_of({"batch_size"}), EndsWith("experiments/batch_size.lua"));
  EXPECT_THAT(file_of({"run", "batch_size.lua"}), EndsWith("experiments/batch_size.lua"));
  EXPECT_TRUE(std::filesystem::exists(file_of({"batch_size"})));
}

TEST_F(CommandLineTest, SeveralScriptsKeepTheirOptions) {
  const CommandLine one = line_of({"run", script, "--quick"});
  EXPECT_THAT(one.scripts, IsEmpty());
  const CommandLine several = line_of({"run", script, "--set", "batch_size=1", "batch_size", "--quick", "--seed=3"});
  EXPECT_THAT(several.scripts, ElementsAre(script, EndsWith("experiments/batch_size.lua")));
  EXPECT_THAT(several.options, ElementsAre("--set", "batch_size=1", "--quick", "--seed=3"));
  EXPECT_THAT(answer({"run", script, "missing"}).text, HasSubstr("no script, experiment or command 'missing'"));
}

TEST_F(CommandLineTest, HelpAndVersionHaveTheirUsualNames) {
  EXPECT_EQ(answer({"help"}).text, answer({"--help"}).text);
  EXPECT_EQ(answer({"-V"}).text, answer({"--version"}).text);
  EXPECT_THAT(answer({"help"}).text,
              AllOf(HasSubstr("Exit status"), HasSubstr("NO_COLOR"), HasSubstr("GPUBENCH_DATA")));
}

TEST_F(CommandLineTest, WordsOfHelpAreTopicsAlsoOptionsOfCommands) {
  const auto topics = [](const std::vector<std::string>& words) {
    return std::get<std::vector<std::string>>(line_of(words).arguments.at("topic"));
  };
  EXPECT_THAT(topics({"help", "show"}), ElementsAre("show"));
  EXPECT_THAT(topics({"help", "exit", "status"}), ElementsAre("exit", "status"));
  EXPECT_THAT(topics({"help", "--set"}), ElementsAre(" --set"));
  EXPECT_THAT(line_of({"help", "--search", "x"}).arguments, testing::Contains(testing::Key("search")));
  EXPECT_THAT(answer({"help", "--help"}).text, HasSubstr("--search WORDS"));
}

TEST_F(CommandLineTest, HelpFillsEightyColumns) {
  const Grammar grammar;
  std::vector<std::vector<std::string>> calls{{"--help"}};
  for (const CLI::App* command : grammar.app().get_subcommands([](const CLI::App*) { return true; }))
    calls.push_back({command->get_name(), "--help"});
  EXPECT_GT(calls.size(), 20U);
  for (const std::vector<std::string>& call : calls) {
    std::istringstream help(answer(call).text);
    for (std::string text; std::getline(help, text);) {
      const bool is_one_word = text.find(' ', std::min(text.find_first_not_of(' '), text.size())) == std::string::npos;
      const bool is_example = text.starts_with("  gpubench ");
      EXPECT_TRUE(text.size() <= 80 || is_one_word || is_example) << call.front() << ": " << text;
    }
  }
}

TEST_F(CommandLineTest, MistakesAreNamedAndExitWithTwo) {
  EXPECT_EQ(answer({script, "--qick"}).status, 2);
  EXPECT_THAT(answer({script, "--qick"}).text,
              StartsWith("gpubench: run: unknown option '--qick' (did you mean '--quick'?)"));
  EXPECT_THAT(answer({"--helpp"}).text, StartsWith("gpubench: run: unknown option '--helpp' (did you mean '--help'?)"));
  EXPECT_THAT(answer({"tune", script, "--point=n=1"}).text,
              StartsWith("gpubench: tune: unknown option '--point'; here: --where AXIS=VALUE names the point"));
  EXPECT_THAT(answer({"show", "--point", "1"}).text, Not(HasSubstr("--where")));
  EXPECT_THAT(answer({"devces"}).text,
              StartsWith("gpubench: no script, experiment or command 'devces' (did you mean 'devices'?)"));
  EXPECT_THAT(answer({"profile"}).text, HasSubstr("command 'profile'; here: gpubench explain RUN"));
  EXPECT_THAT(answer({"python3", "train.py"}).text, HasSubstr("; here: gpubench watch -- python3 train.py"));
  EXPECT_THAT(answer({"missing.lua"}).text, StartsWith("gpubench: no script, experiment or command 'missing.lua'"));
  EXPECT_THAT(answer({script, "more"}).text, StartsWith("gpubench: no script, experiment or command 'more'"));
  EXPECT_THAT(answer({"batch_sise"}).text, HasSubstr("(did you mean 'batch_size'?)"));
  EXPECT_THAT(answer({script, "--color", "green"}).text, HasSubstr("green not in {auto,always,never}"));
  EXPECT_THAT(answer({script, "--set", "batch"}).text, HasSubstr("'batch' is not axis=value or axis=value,value"));
  EXPECT_THAT(answer({script, "--set", "batch=1,,2"}).text, HasSubstr("is not axis=value"));
  EXPECT_THAT(answer({script, "--budget", "soon"}).text, HasSubstr("'soon' is not a positive number"));
  EXPECT_THAT(answer({script, "--budget", "0"}).text, HasSubstr("'0' is not a positive number"));
  for (const char* wait : {"nan", "inf", "-1", "86400.5", "1e300", "soon", "1 s", ""})
    EXPECT_THAT(answer({script, "--wait-idle", wait}).text,
                HasSubstr(fmt::format("'{}' is no number of seconds from 0 to 86400", wait)));
  EXPECT_THAT(answer({script, "--threads", "0"}).text, HasSubstr("--threads"));
  EXPECT_THAT(answer({script, "--seed", "-1"}).text, HasSubstr("'-1' is not a whole number from 0"));
  EXPECT_THAT(answer({script, "--seed", "99999999999999999999999"}).text,
              HasSubstr("is not a whole number from 0 to 9223372036854775807"));
  for (const std::string wrong :
       {"--seed=-99999999999999999999999", "--threads=99999999999999999999", "--threads=-1", "--budget=1e999",
        "--budget=nan", "--timeout=nan", "--timeout=-1", "--workers=99999999999999999999"}) {
    EXPECT_EQ(answer({script, wrong}).status, 2) << wrong;
    EXPECT_THAT(answer({script, wrong}).text, HasSubstr(wrong.substr(0, wrong.find('=')))) << wrong;
  }
  EXPECT_THAT(answer({"show", "r", "--format", "pdf"}).text, HasSubstr("pdf not in {text,csv,json,markdown,junit}"));
  EXPECT_THAT(answer({"new"}).text,
              HasSubstr("new: NAME is missing\nUsage: gpubench new [OPTIONS] NAME\nTry 'gpubench new --help'."));
}

TEST_F(CommandLineTest, HelpHasOptionsAndExamples) {
  EXPECT_EQ(answer({"--help"}).status, 0);
  EXPECT_THAT(answer({"--help"}).text,
              AllOf(HasSubstr("Examples:"), HasSubstr("--set AXIS=VALUE"), HasSubstr("completion")));
  EXPECT_THAT(answer({"run", "--help"}).text, HasSubstr("--budget SECONDS"));
  EXPECT_EQ(answer({}).status, 2);
  for (const auto& arguments : {std::vector<std::string>{"--help"}, {"run", "--help"}}) {
    const std::string help = answer(arguments).text;
    EXPECT_THAT(help, ContainsRegex("Exit status.*\n  0    done.*\n  1    .*\n  2    .*\n  3    .*\n  130  "));
    EXPECT_EQ(help.find("Exit status ("), help.rfind("Exit status ("));
    EXPECT_EQ(help.find("\n\n\n"), std::string::npos);
  }
}

TEST_F(CommandLineTest, VersionNamesCommitBuildAndLibraries) {
  EXPECT_EQ(answer({"--version"}).status, 0);
  EXPECT_THAT(answer({"--version"}).text, StartsWith("gpubench " GPUBENCH_VERSION "\ncommit     "));
  EXPECT_THAT(answer({"--version"}).text, HasSubstr("\nbuild      " GPUBENCH_BUILD_TYPE));
  EXPECT_THAT(answer({"--version"}).text, ContainsRegex("\nCPU        oneDNN [0-9]+[.][0-9]+[.][0-9]+\nGPU        "));
  EXPECT_THAT(answer({"--version"}).text,
              ContainsRegex("GPU        (CUDA [0-9.]+, kernels for [^,]+, cuDNN [0-9.]+, |not built: )"));
  EXPECT_THAT(answer({"--version"}).text, ContainsRegex("\nprocesses  (Open MPI [0-9.]+|not built: no Open MPI)\n"));
  EXPECT_THAT(answer({"--version"}).text, ContainsRegex("\nscripts    Lua 5[.]4[.][0-9]+$"));
}

TEST_F(CommandLineTest, VersionAsJsonIsWhatRunsKeep) {
  const Answer json = answer({"--version", "--json"});
  EXPECT_EQ(json.status, 0);
  EXPECT_EQ(to_json_line(parse_json(json.text, "version")), to_json_line(build_info()));
}

TEST(StoredOptions, AreThoseOfRun) {
  const Grammar grammar;
  std::size_t known = 0;
  for (const CLI::Option* const option : grammar.command("run").get_options()) {
    if (option->get_positional() || option->check_lname("help")) continue;
    std::vector<std::string> names;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : names) {
      const auto stored = std::ranges::find(stored_options(), name, &StoredOption::name);
      ASSERT_NE(stored, stored_options().end())
          << name << ": may it be taken from a stored run? See core/compare/stored_call.h";
      EXPECT_EQ(!stored->value.empty(), takes_value(*option)) << name;
      ++known;
    }
  }
  EXPECT_EQ(known, stored_options().size());
}

}  // namespace
}  // namespace gpubench
