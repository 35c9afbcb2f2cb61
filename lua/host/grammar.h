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
  const CLI::App& command(Command which) const { return *commands_.at(which); }
  /// The parsed values, except axes.
  CommandLine values() const;
  /// As they were given: files or names of experiments.
  const std::vector<std::string>& scripts() const { return scripts_; }
  /// Each "axis=value,value".
  const std::vector<std::string>& axis_settings() const { return axis_settings_; }
  /// Each "ok,reliable".
  const std::vector<std::string>& requirement_lists() const { return requirement_lists_; }

 private:
  CLI::App& add(Command command, const char* name, const char* description);
  void add_run();
  void add_others();

  CLI::App app_;
  std::map<Command, CLI::App*> commands_;
  CommandLine values_;
  std::vector<std::string> scripts_;
  std::vector<std::string> axis_settings_;
  std::vector<std::string> requirement_lists_;
};

/// Whether the option is followed by a value.
bool takes_value(const CLI::Option& option);

}  // namespace gpubench
