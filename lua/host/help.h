// What the help says beside commands and options: exit statuses, variables of the environment, examples. Help is filled
// to 80 columns, whatever the width of the window: it is copied into pages and reports.
#pragma once
#include <CLI/Formatter.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gpubench {

class Grammar;

struct HelpLine {
  std::string_view name;
  std::string_view text;
};

std::span<const HelpLine> exit_statuses();
std::span<const HelpLine> environment_variables();
/// Commands, and what each does.
std::span<const HelpLine> examples();

/// "Exit status (...)" and its list.
std::string exit_status_section();
/// What follows the options in the program's own help.
std::string help_footer();
/// The help of the program: the options of `run` are in it, because the name of that command may be left out.
std::string complete_help(const Grammar& grammar);
/// The help of a command. Throws std::out_of_range for a name that is no command's.
std::string command_help(const Grammar& grammar, const std::string& command);

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
};

}  // namespace gpubench
