#include "lua/host/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "lua/bind/error.h"
#include "lua/host/completion.h"
#include "lua/host/grammar.h"

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
  return {usage_status, "gpubench: " + text + "\nTry 'gpubench --help'."};
}

Answer surplus(const CLI::App& command) {
  std::vector<std::string> rest = command.remaining();
  const std::string word = rest.empty() ? std::string() : rest.front();
  if (!word.starts_with("-")) return mistake(command.get_name() + ": unexpected argument '" + word + "'");
  const std::string name = word.substr(0, word.find('='));
  return mistake(command.get_name() + ": unknown option '" + name + "'" + lua::suggestion(name, long_names(command)));
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

// The options of `run` stand in the program's own help too, because its name may be left out.
std::string complete_help(const Grammar& grammar) {
  std::string text = grammar.app().help();
  const std::string run = grammar.command(Command::run).help();
  const std::size_t options = run.find("Options:");
  const std::size_t footer = text.find("Exit status (");
  if (options == std::string::npos || footer == std::string::npos) return text;
  const std::string own = run.substr(options, run.find("Exit status (") - options);
  return text.insert(footer, std::string(own).insert(7, " of run"));
}

}  // namespace

std::variant<CommandLine, Answer> parse_command_line(std::vector<std::string> arguments) {
  Grammar grammar;
  CLI::App& app = grammar.app();
  const bool top_level =
      !arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "--version");
  if (arguments.empty()) return Answer{usage_status, complete_help(grammar)};
  const std::vector<std::string> commands = command_names(app);
  if (!top_level && std::ranges::find(commands, arguments[0]) == commands.end()) {
    if (!arguments[0].starts_with("-") && !std::filesystem::exists(arguments[0]))
      return mistake("no script or command '" + arguments[0] + "'" + lua::suggestion(arguments[0], commands));
    arguments.insert(arguments.begin(), "run");
  }

  std::ranges::reverse(arguments);  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    return Answer{0, chosen.empty() ? complete_help(grammar) : chosen.front()->help()};
  } catch (const CLI::CallForVersion& version) {
    return Answer{0, version.what()};
  } catch (const CLI::ExtrasError&) {
    return surplus(*app.get_subcommands().front());
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    return mistake((chosen.empty() ? std::string() : chosen.front()->get_name() + ": ") + error.what());
  }

  CommandLine line = grammar.values();
  take_axes(grammar.axis_settings(), line);
  take_requirements(grammar.requirement_lists(), line);
  if (line.command == Command::completion) return Answer{0, completion_script(line.subject, grammar)};
  return line;
}

}  // namespace gpubench
