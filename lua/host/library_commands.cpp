#include "lua/host/library_commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace gpubench {
namespace {

/// "--keep-tags" to "keep_tags"; of "-k,--keep-tags" too.
std::string key_of(const std::string& option) {
  const std::size_t begin = option.rfind("--");
  std::string key = begin == std::string::npos ? option : option.substr(begin + 2);
  std::ranges::replace(key, '-', '_');
  return key;
}

template <class T>
CLI::Option& add(CLI::App& command, CommandLine& values, const std::string& option, const std::string& type,
                 const std::string& description) {
  CLI::Option* const added = command.add_option_function<T>(
      option, [&values, key = key_of(option)](const T& value) { values.arguments[key] = value; }, description);
  return *added->type_name(type);
}

void declare_list(CommandOptions& options) {
  options.argument("folder", "DIR", "Folder to search; default: the experiments that come with gpubench");
  options.flag("--long", "Print question, title, time and needs of each");
  options.flag("--json", "Print a line of JSON for each");
  options.flag("--names", "Print only the name of each, by which it is run");
  options.out_folder("Folder that holds results/, whose runs tell how long an experiment takes");
}

void declare_new(CommandOptions& options) {
  options.argument("name", "NAME", "Name of the experiment; the script is NAME.lua").required();
}

void declare_devices(CommandOptions& options) {
  options.traceback();
}

void declare_show(CommandOptions& options) {
  options.argument("run", "RUN",
                   "A run's folder, archive or name, or an experiment (its newest run); without it, lists the runs");
  options.choice("--format", "FORMAT", {"text", "csv", "json", "markdown", "junit"},
                 "How to print it: text (the default), csv, json, markdown, or junit (its claims as tests)");
  options.out_folder("Folder that holds results/");
  options.text_style();
}

void declare_finish(CommandOptions& options) {
  options.argument("run", "RUN", "The run's folder or name, or an experiment (its newest run)").required();
  options.out_folder("Folder that holds results/ and plots/");
  options.text_style();
}

void declare_pack(CommandOptions& options) {
  options.argument("run", "RUN", "The run's folder or name, or an experiment (its newest run)").required();
  options.text("--file", "FILE", "The archive; default: EXPERIMENT-RUN.tar.gz in the working folder");
  options.flag("--anonymous", "Leave out names of hosts and users, and paths");
  options.out_folder("Folder that holds results/ and plots/");
}

void declare_prune(CommandOptions& options) {
  constexpr std::int64_t most = 1'000'000;
  options.argument("folder", "DIR", "The folder results, or the one that holds it; default: that of --out");
  options.integer("--keep", "N", 0, most, "How many runs of each experiment stay: the newest").required();
  options.flag("--keep-tags", "Keep runs with a tag too, however old they are");
  options.flag("--dry-run", "List the runs that would be removed, and remove none");
  options.out_folder("Folder that holds results/ and plots/");
}

constexpr LibraryCommand commands[] = {
    {"list", "List experiments and their questions, by topic", declare_list},
    {"new", "Write a commented script to start from", declare_new},
    {"devices", "List the devices of this machine", declare_devices},
    {"show", "Print a run again: its table, claims and answer", declare_show},
    {"finish", "Write the report and charts of a run whose program died", declare_finish},
    {"pack", "Write one archive of a run: script, data, charts, report, versions", declare_pack},
    {"prune", "Remove old runs, and keep the newest of each experiment", declare_prune},
};

}  // namespace

std::string check_positive(const std::string& text) {
  try {
    std::size_t end = 0;
    const double value = std::stod(text, &end);
    if (end == text.size() && value > 0 && std::isfinite(value)) return {};
  } catch (const std::exception&) {  // no number, or one that no double holds
  }
  return "'" + text + "' is not a positive number";
}

std::string check_named(const std::string& text) {
  return text.empty() ? "the name is empty" : std::string();
}

CLI::Option& CommandOptions::argument(const std::string& name, const std::string& type,
                                      const std::string& description) {
  return add<std::string>(command_, values_, name, type, description);
}

CLI::Option& CommandOptions::arguments(const std::string& name, const std::string& type,
                                       const std::string& description) {
  return add<std::vector<std::string>>(command_, values_, name, type, description);
}

CLI::Option& CommandOptions::text(const std::string& option, const std::string& type, const std::string& description) {
  return *add<std::string>(command_, values_, option, type, description).check(check_named);
}

CLI::Option& CommandOptions::texts(const std::string& option, const std::string& type, const std::string& description) {
  return *add<std::vector<std::string>>(command_, values_, option, type, description)
              .allow_extra_args(false)
              ->check(check_named);
}

CLI::Option& CommandOptions::choice(const std::string& option, const std::string& type,
                                    std::vector<std::string> possible, const std::string& description) {
  return *add<std::string>(command_, values_, option, type, description).check(CLI::IsMember(std::move(possible)));
}

CLI::Option& CommandOptions::integer(const std::string& option, const std::string& type, std::int64_t least,
                                     std::int64_t most, const std::string& description) {
  return *add<std::int64_t>(command_, values_, option, type, description).check(CLI::Range(least, most));
}

CLI::Option& CommandOptions::positive(const std::string& option, const std::string& type,
                                      const std::string& description) {
  return *add<double>(command_, values_, option, type, description).check(check_positive);
}

void CommandOptions::flag(const std::string& option, const std::string& description) {
  command_.add_flag_function(
      option, [&values = values_, key = key_of(option)](std::int64_t) { values.arguments[key] = true; }, description);
}

void CommandOptions::out_folder(const std::string& description) {
  command_.add_option("--out", values_.out, description)->type_name("DIR")->check(check_named);
}

void CommandOptions::text_style() {
  command_.add_flag("--wide", values_.wide, "Print all columns of the table, not only those of claims and charts");
  command_.add_option("--color", values_.color, "auto (on a terminal, unless NO_COLOR is set), always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void CommandOptions::traceback() {
  command_.add_flag("--traceback", values_.traceback, "Show Lua's traceback with an error");
}

std::span<const LibraryCommand> library_commands() {
  return commands;
}

}  // namespace gpubench
