#include "lua/host/grammar.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/results/build_info.h"
#include "core/telemetry/proc/contention.h"
#include "core/tensor/device_id.h"
#include "lua/host/help.h"
#include "lua/host/library_commands.h"

namespace gpubench {
namespace {

std::string check_axis_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  const bool empty_value = text.ends_with('=') || text.ends_with(',') || text.find(",,") != std::string::npos ||
                           text.find("=,") != std::string::npos;
  if (equals == std::string::npos || equals == 0 || empty_value)
    return "'" + text + "' is not axis=value or axis=value,value";
  return {};
}

std::optional<double> number_in(const std::string& text) {
  try {
    std::size_t end = 0;
    const double value = std::stod(text, &end);
    if (end == text.size()) return value;
  } catch (const std::exception&) {  // no number, or one that no double holds
  }
  return std::nullopt;
}

std::string check_wait(const std::string& text) {
  const std::optional<double> value = number_in(text);
  const bool fits = value && *value >= 0 && *value <= longest_wait_for_idle_machine.count();
  return fits ? std::string()
              : fmt::format("'{}' is no number of seconds from 0 to {}", text, longest_wait_for_idle_machine.count());
}

std::string check_seed(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool fits = error == std::errc() && stop == end && std::in_range<std::int64_t>(value);
  return fits ? std::string() : "'" + text + "' is not a whole number from 0 to 9223372036854775807";
}

std::string check_requirements(const std::string& text) {
  try {
    split_requirements(text);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

std::vector<std::string> split_requirements(const std::string& text) {
  constexpr std::string_view of_device = "device=";
  std::vector<std::string> requirements;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    begin = end + 1;
    if (one == "ok" || one == "reliable")
      requirements.push_back(one);
    else if (one.starts_with(of_device) && one.size() > of_device.size())
      requirements.push_back(std::string(of_device) + to_string(parse_device_id(one.substr(of_device.size()))));
    else
      throw Error("'" + one + "' cannot be required; possible: ok, reliable, device=NAME with a name such as gpu:0");
  }
  return requirements;
}

bool takes_value(const CLI::Option& option) {
  return !option.get_positional() && option.get_items_expected_max() != 0;
}

Grammar::Grammar()
    : app_("Why is this accelerator not busy, and what makes it busy? gpubench trains real models and measures.",
           "gpubench") {
  app_.set_version_flag("-V,--version", &build_text,
                        "Print version, commit, build and libraries, and exit; with --json as one line of JSON");
  app_.set_help_flag("-h,--help", "Print this help, or a command's, and exit");
  app_.require_subcommand(0, 1);
  app_.formatter(std::make_shared<HelpFormatter>());
  app_.footer(help_footer());
  add_run();
  for (const LibraryCommand& command : library_commands()) {
    CLI::App& app = add(command.name, command.description);
    if (command.runs_script) {
      app.add_option("script", scripts_, "The name of an experiment, or any Lua script")
          ->required()
          ->expected(1)
          ->type_name("SCRIPT");
      add_measuring(app);
    }
    CommandOptions options(app, values_);
    command.declare(options);
  }
  add_completion();
}

CLI::App& Grammar::add(const char* name, const char* description) {
  CLI::App* added = app_.add_subcommand(name, description);
  added->set_help_flag("-h,--help", "Print this help and exit");
  added->footer("");
  commands_[name] = added;
  return *added;
}

void Grammar::add_run() {
  CLI::App& run = add("run", "Run a script (the word run may be omitted)");
  run.add_option("script", scripts_, "The name of an experiment, or any Lua script; several run one after the other")
      ->required()
      ->type_name("SCRIPT");
  add_measuring(run);
  run.add_flag("--dry-run", values_.dry_run, "List the points and the expected time, run nothing");
  run.add_flag("--strict", values_.strict, "Exit with status 1 if a claim is refuted (not if it stays open)");
  run.add_option("--require", requirement_lists_,
                 "Exit with status 3 unless it holds: ok (all points), reliable (all rows too), device=NAME (it "
                 "measured); may be repeated")
      ->type_name("WHAT[,WHAT...]")
      ->allow_extra_args(false)
      ->check(check_requirements);
  run.add_option("--tag", values_.tags, "Word that run.json and the index keep, such as night; may be repeated")
      ->type_name("TAG")
      ->allow_extra_args(false)
      ->check(check_named);
  run.add_flag("-q,--quiet", values_.quiet, "Print only the folder of each run");
  run.add_option("--workers", values_.workers, "Processes to start on this machine, which run the script together")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  run.add_option("--repeat", values_.repeat,
                 "Run the script in so many fresh processes, which `compare` takes as one side; several scripts in "
                 "random order")
      ->type_name("K")
      ->check(whole_number(1, 1000));
  run.add_option("--peer-timeout", values_.peer_timeout_s,
                 "Seconds that processes wait for another before the run ends (60)")
      ->type_name("SECONDS")
      ->check(check_positive);
  run.add_option("--restart-from", values_.restart_from,
                 "File saved by fit with `resume`, from which trainings continue, with any number of processes")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  CommandOptions(run, values_).chart_format();
  CommandOptions(run, values_).text_style();
  CommandOptions(run, values_).traceback();
  run.footer(exit_status_section());
}

void Grammar::add_measuring(CLI::App& command) {
  command
      .add_option("--set", axis_settings_,
                  "Replace an axis' values, or those of a gb.param; 1..8, 1..1024*2 "
                  "and 0..1+0.25 are ranges; may be repeated")
      ->type_name("AXIS=VALUE[,VALUE...]")
      ->allow_extra_args(false)
      ->check(check_axis_setting);
  command.add_option("--device", values_.device, "Device for everything that the script does not place, such as gpu:0")
      ->type_name("DEVICE");
  command.add_option("--budget", values_.budget_s, "Seconds to measure each point (2; with --quick 0.3)")
      ->type_name("SECONDS")
      ->check(check_positive);
  command
      .add_option("--timeout", values_.timeout_s, "Time limit of a point in seconds, its preparation included (none)")
      ->type_name("SECONDS")
      ->check(check_positive);
  command
      .add_option("--wait-idle", values_.wait_idle_s,
                  "Seconds to wait at most, before the first point, until no other program uses the processors (0)")
      ->type_name("SECONDS")
      ->check(check_wait);
  command.add_flag("--quick", values_.quick,
                   "Measure each point for 0.3 s, with wider intervals; scripts may train less too");
  command.add_flag("--json", values_.json,
                   "Print a line of JSON for each finished row, and one for the end of each run");
  command.add_option("--out", values_.out, "Folder for results/ and plots/ (the working folder)")
      ->type_name("DIR")
      ->check(check_named);
  command.add_option("--seed", values_.seed, "Seed of weights, shuffles and dropout (42)")
      ->type_name("N")
      ->check(check_seed);
  command
      .add_option("--threads", values_.threads,
                  "CPU threads in total, over all processes on this machine (one for each processor)")
      ->type_name("N")
      ->check(whole_number(1, 4096));
  command.add_flag("--trusted", values_.trusted,
                   "Let the script run programs and write anywhere; docs/safety.md lists what it may do without");
}

void Grammar::add_completion() {
  CLI::App& completion = add("completion", "Print the completion script of a shell");
  completion.add_option("shell", shell_, "bash, zsh or fish")
      ->required()
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

CommandLine Grammar::values() const {
  CommandLine line = values_;
  for (const auto& [name, app] : commands_)
    if (app->parsed()) line.command = name;
  return line;
}

}  // namespace gpubench
