// Commands that the Lua library carries out: the name, description and options of each. Its function is the value of
// the module lua/gpubench/commands/NAME.lua: it gets the options in a table and returns the exit status.
#pragma once
#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lua/host/command_line.h"

namespace gpubench {

/// Declares the options of one command. "--keep-tags" becomes the key keep_tags; an option that is not given has none.
class CommandOptions {
 public:
  CommandOptions(CLI::App& command, CommandLine& values) : command_(command), values_(values) {}

  /// Arguments without a name: one, or a list. Not required unless said so.
  CLI::Option& argument(const std::string& name, const std::string& type, const std::string& description);
  CLI::Option& arguments(const std::string& name, const std::string& type, const std::string& description);
  CLI::Option& text(const std::string& option, const std::string& type, const std::string& description);
  /// May be repeated; a list.
  CLI::Option& texts(const std::string& option, const std::string& type, const std::string& description);
  CLI::Option& choice(const std::string& option, const std::string& type, std::vector<std::string> possible,
                      const std::string& description);
  /// Both ends included.
  CLI::Option& integer(const std::string& option, const std::string& type, std::int64_t least, std::int64_t most,
                       const std::string& description);
  /// A finite number above 0.
  CLI::Option& positive(const std::string& option, const std::string& type, const std::string& description);
  void flag(const std::string& option, const std::string& description);
  /// --out, --wide, --color and --chart-format, which the whole program heeds.
  void out_folder(const std::string& description);
  void text_style();
  void chart_format();
  void traceback();

 private:
  CLI::App& command_;
  CommandLine& values_;
};

struct LibraryCommand {
  const char* name;
  const char* description;
  void (*declare)(CommandOptions& options);
  /// Its first argument is a script, which its function runs, in the sandbox of scripts.
  bool runs_script = false;
};

/// In the order of the help.
std::span<const LibraryCommand> library_commands();

/// CLI11's checks: empty if the text is right, else what is wrong.
std::string check_positive(const std::string& text);
/// For options that take an integer.
std::function<std::string(const std::string&)> whole_number(std::int64_t least, std::int64_t most);
std::string check_named(const std::string& text);

}  // namespace gpubench
