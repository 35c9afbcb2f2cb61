// What shells complete, read from the grammar: the same for all of them.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace gpubench {

class Grammar;

/// Names of all commands; run is the last, because its branch also takes everything that is no command.
std::vector<std::string> commands_of(const Grammar& grammar);
/// "list new ... run".
std::string command_names(const Grammar& grammar);

/// A command's options; before any command stand the program's own and those of run.
std::vector<const CLI::Option*> options_of(const Grammar& grammar, const std::string& command);

/// Null for a command without arguments.
const CLI::Option* argument_of(const CLI::App& command);

/// What completes an option's value or a command's argument: words with blanks between them, or one of
///   <script> <folder> <file> <run>   names of these
///   <setting>                        AXIS=VALUE, of the script in the line
///   <experiment>                     gpubench list --names
///   <names> <names columns>          gpubench help --names [KIND]
/// Empty if nothing does.
std::string completed_by(const CLI::Option& option);

/// KIND of "<names KIND>", which may be empty; without a value for anything else.
bool is_names(const std::string& kind);
std::string kind_of_names(const std::string& kind);

std::string bash_completion(const Grammar& grammar);
std::string zsh_completion(const Grammar& grammar);
std::string fish_completion(const Grammar& grammar);

}  // namespace gpubench
