// Commands and their options, declared once for the parser, the help and the shells' completions.
#pragma once
#include <CLI/App.hpp>
#include <map>
#include <string>
#include <vector>

#include "lua/host/command_line.h"

namespace gpubench {

/// The parts of "ok,reliable,device=/GPU:0", devices by their usual name. Throws Error with the possible ones.
std::vector<std::string> split_requirements(const std::string& text);

class Grammar {
 public:
  Grammar();
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;

  CLI::App& app() { return app_; }
  const CLI::App& app() const { return app_; }
  /// Throws std::out_of_range for a name that is no command's.
  const CLI::App& command(const std::string& name) const { return *commands_.at(name); }
  /// The parsed values, except axes.
  CommandLine values() const;
  /// Of a command that runs scripts, as they were given: files or names of experiments.
  const std::vector<std::string>& scripts() const { return scripts_; }
  /// Each "axis=value,value".
  const std::vector<std::string>& axis_settings() const { return axis_settings_; }
  /// Of `completion`: bash, zsh or fish.
  const std::string& shell() const { return shell_; }
  /// Each "ok,reliable".
  const std::vector<std::string>& requirement_lists() const { return requirement_lists_; }

 private:
  CLI::App& add(const char* name, const char* description);
  void add_run();
  /// Options of all commands that run a script.
  void add_measuring(CLI::App& command);
  void add_completion();

  CLI::App app_;
  std::map<std::string, CLI::App*> commands_;
  CommandLine values_;
  std::vector<std::string> scripts_;
  std::vector<std::string> axis_settings_;
  std::vector<std::string> requirement_lists_;
  std::string shell_;
};

/// Whether the option is followed by a value.
bool takes_value(const CLI::Option& option);

}  // namespace gpubench
