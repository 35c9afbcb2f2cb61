#include "lua/host/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/base/known_names.h"
#include "core/base/other_names.h"
#include "core/base/resources.h"
#include "core/base/shown_text.h"
#include "core/results/build_info.h"
#include "lua/bind/error.h"
#include "lua/host/completion.h"
#include "lua/host/grammar.h"
#include "lua/host/help.h"

namespace gpubench {
namespace {

constexpr int usage_status = 2;

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> long_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

Answer mistake(const std::string& text) {
  return {usage_status, shown_message("gpubench: " + text) + "\nTry 'gpubench --help'."};
}

bool is_positional(const CLI::Option* option) {
  return option->get_positional();
}

// "Usage: gpubench ab [OPTIONS] A B -- SCRIPT [OPTION...] ..."
std::string usage_of(const CLI::App& command) {
  std::string text = "Usage: gpubench " + command.get_name() + " [OPTIONS]";
  for (const CLI::Option* const one : command.get_options(is_positional)) {
    const std::string words = one->get_type_name() + (one->get_expected_max() > 1 ? " ..." : "");
    text += one->get_required() ? " " + words : " [" + words + "]";
  }
  return text;
}

Answer mistake(const CLI::App& command, const std::string& text) {
  const std::string& name = command.get_name();
  return {usage_status, shown_message("gpubench: " + name + ": " + text) + "\n" + usage_of(command) +
                            "\nTry 'gpubench " + name + " --help'."};
}

Answer mistake(const CLI::App& command, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    for (const CLI::Option* const one : command.get_options(is_positional))
      if (one->get_required() && one->count() == 0) return mistake(command, one->get_type_name() + " is missing");
  }
  return mistake(command, error.what());
}

Answer surplus(const CLI::App& command) {
  std::vector<std::string> rest = command.remaining();
  const std::string word = rest.empty() ? std::string() : rest.front();
  if (!word.starts_with("-")) return mistake(command, "unexpected argument '" + word + "'");
  const std::string name = word.substr(0, word.find('='));
  if (const auto other = find_other_name("command option " + command.get_name(), name))
    return mistake(command, "unknown option '" + name + "'; here: " + other->text);
  const std::vector<std::string> names = long_names(command);
  return mistake(command, "unknown option '" + name + "'" + suggestion(name, names_of(names)));
}

std::pair<std::string, std::vector<std::string>> split_axis(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::vector<std::string> values;
  for (std::size_t at = equals; at != std::string::npos;) {
    const std::size_t comma = text.find(',', at + 1);
    values.push_back(text.substr(at + 1, comma == std::string::npos ? comma : comma - at - 1));
    at = comma;
  }
  return {text.substr(0, equals), std::move(values)};
}

// Values of one axis add up over several --set.
void take_axes(const std::vector<std::string>& settings, CommandLine& line) {
  for (const std::string& setting : settings) {
    auto [name, values] = split_axis(setting);
    const auto same = std::ranges::find(line.axes, name, [](const auto& axis) { return axis.first; });
    if (same == line.axes.end())
      line.axes.emplace_back(std::move(name), std::move(values));
    else
      same->second.insert(same->second.end(), values.begin(), values.end());
  }
}

void take_requirements(const std::vector<std::string>& lists, CommandLine& line) {
  for (const std::string& list : lists) {
    for (std::string& requirement : split_requirements(list)) {
      if (std::ranges::find(line.require, requirement) == line.require.end())
        line.require.push_back(std::move(requirement));
    }
  }
}

// Experiments of the working folder come before those that came with the program.
std::vector<std::filesystem::path> experiment_folders() {
  return {"experiments", resource("experiments")};
}

bool is_name(const std::string& text) {
  return !text.empty() && text.find('/') == std::string::npos;
}

/// A file, or the script of an experiment's name; empty if there is neither.
std::string find_script(const std::string& text) {
  if (std::filesystem::exists(text)) return text;
  if (!is_name(text)) return {};
  for (const std::filesystem::path& folder : experiment_folders()) {
    for (const std::string& file : {text, text + ".lua"})
      if (std::filesystem::is_regular_file(folder / file)) return (folder / file).string();
  }
  return {};
}

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const std::filesystem::path& folder : experiment_folders()) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
      if (entry.path().extension() == ".lua") names.push_back(entry.path().stem().string());
  }
  return names;
}

/// What no command's name is, in front of a script that is not there.
Answer no_script(const std::string& word, std::vector<std::string> names) {
  if (const auto other = find_other_name("command", word))
    return mistake("no script, experiment or command '" + word + "'; here: " + other->text);
  std::ranges::copy(experiment_names(), std::back_inserter(names));
  return mistake("no script, experiment or command '" + word + "'" + suggestion(word, names_of(names)));
}

/// The arguments of `run` without its scripts: words that no option begins or takes as its value.
std::vector<std::string> options_among(const std::vector<std::string>& arguments, const CLI::App& run) {
  std::vector<std::string> options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("-")) continue;
    options.push_back(arguments[i]);
    const CLI::Option* const option = run.get_option_no_throw(arguments[i]);
    if (option != nullptr && takes_value(*option) && i + 1 < arguments.size()) options.push_back(arguments[++i]);
  }
  return options;
}

std::vector<std::string> without(const std::string& option, const std::vector<std::string>& options) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i] == option)
      ++i;
    else if (!options[i].starts_with(option + "="))
      rest.push_back(options[i]);
  }
  return rest;
}

/// A command of the library starts the processes.
void repeat_run(CommandLine& line) {
  line.command = "repeat";
  line.runs_script = false;
  line.arguments["scripts"] = std::move(line.scripts);
  line.arguments["options"] = without("--repeat", line.options);
  line.arguments["count"] = std::int64_t{line.repeat};
  line.scripts.clear();
}

/// Words of `ab` and `calibrate` that look like options and are none of its own get a blank in front, which its
/// function removes: a side such as "--set batch_size=8" (one word), and what follows "--".
void keep_words(std::vector<std::string>& arguments, const CLI::App& ab) {
  bool is_script = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    std::string& word = arguments[i];
    if (word == "--" && !is_script) {
      is_script = true;
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i--));
      continue;
    }
    if (!word.starts_with("-")) continue;
    const std::size_t end = word.find_first_of(" =");
    const bool is_side =
        end != std::string::npos && (word[end] == ' ' || ab.get_option_no_throw(word.substr(0, end)) == nullptr);
    if (is_script || is_side) word.insert(0, " ");
  }
}

/// Options are topics of `help`: those that are none of its own get a blank in front, which its function removes.
void keep_options(std::vector<std::string>& arguments, const CLI::App& help) {
  for (std::string& word : arguments)
    if (word.starts_with("-") && help.get_option_no_throw(word.substr(0, word.find('='))) == nullptr)
      word.insert(0, " ");
}

}  // namespace

std::variant<CommandLine, Answer> parse_command_line(std::vector<std::string> arguments) {
  Grammar grammar;
  CLI::App& app = grammar.app();
  if (arguments == std::vector<std::string>{"help"}) arguments = {"--help"};
  const bool top_level = !arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h" ||
                                                arguments[0] == "--version" || arguments[0] == "-V");
  if (arguments.empty()) return Answer{usage_status, complete_help(grammar)};
  const std::vector<std::string> commands = command_names(app);
  if (!top_level && std::ranges::find(commands, arguments[0]) == commands.end()) {
    if (!arguments[0].starts_with("-") && find_script(arguments[0]).empty()) return no_script(arguments[0], commands);
    arguments.insert(arguments.begin(), "run");
  }

  // Of a job that is no script everything behind -- is its own, whatever it looks like.
  std::vector<std::string> job;
  if (arguments[0] == "watch" || arguments[0] == "tune") {
    const auto dashes = std::ranges::find(arguments, "--");
    if (dashes != arguments.end()) {
      job.assign(dashes + 1, arguments.end());
      arguments.erase(dashes, arguments.end());
      if (arguments[0] == "tune") arguments[0] = "tune-job";
    }
  }
  for (const char* command : {"ab", "calibrate"})
    if (arguments[0] == command) keep_words(arguments, grammar.command(command));
  if (arguments[0] == "help") keep_options(arguments, grammar.command("help"));
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // as CLI11 wants them
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    return Answer{0, chosen.empty() ? complete_help(grammar) : command_help(grammar, chosen.front()->get_name())};
  } catch (const CLI::CallForVersion& version) {
    const bool as_json = std::ranges::find(arguments, "--json") != arguments.end();
    return Answer{0, as_json ? to_json_line(build_info()) : version.what()};
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    if (chosen.empty()) return mistake(std::string(error.what()));
    const std::string name = chosen.front()->get_name();
    const bool has_python = std::ranges::any_of(
        arguments, [](const std::string& word) { return word.starts_with("python") || word.ends_with(".py"); });
    if (has_python && (name == "watch" || name == "tune"))
      return mistake(*chosen.front(), "a job stands behind --: gpubench " + name + " -- python train.py");
    // What is unknown is told first: a misspelt option may be why an argument is missing.
    if (!chosen.front()->remaining().empty()) return surplus(*chosen.front());
    return mistake(*chosen.front(), error);
  }

  CommandLine line = grammar.values();
  if (line.command == "watch" || line.command == "tune-job") {
    if (job.empty())
      return mistake(grammar.command(line.command), "what to run is missing: gpubench " +
                                                        std::string(line.command == "watch" ? "watch" : "tune") +
                                                        " -- python train.py");
    line.arguments["command"] = std::move(job);
  }
  line.runs_script = !grammar.scripts().empty();
  for (const std::string& script : grammar.scripts()) {
    line.scripts.push_back(find_script(script));
    if (line.scripts.back().empty()) return no_script(script, {});
  }
  if (line.runs_script) line.script = line.scripts.front();
  if (line.scripts.size() == 1 && line.repeat == 0) line.scripts.clear();
  if (line.command == "run") {
    line.options = options_among(arguments, grammar.command("run"));
    if (line.repeat > 0) repeat_run(line);
  }
  take_axes(grammar.axis_settings(), line);
  take_requirements(grammar.requirement_lists(), line);
  if (line.command == "completion") return Answer{0, completion_script(grammar.shell(), grammar)};
  return line;
}

}  // namespace gpubench
