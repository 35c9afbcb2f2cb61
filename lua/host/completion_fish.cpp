#include <CLI/CLI.hpp>

#include "lua/host/completion_words.h"
#include "lua/host/grammar.h"

namespace gpubench {
namespace {

constexpr const char* fish_head =
    R"SH(# fish completion for gpubench; keep it as ~/.config/fish/completions/gpubench.fish
function __gpubench_call
    set -l words (commandline -opc)
    eval (string escape -- $words[1] $argv) 2>/dev/null
end
# The command in the line: run where the first word is a script, nothing where there is no word yet.
function __gpubench_command
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if string match -q -- '-*' $word
            continue
        end
        if contains -- $word $__gpubench_commands
            echo $word
        else
            echo run
        end
        return
    end
end
function __gpubench_is
    test "$(__gpubench_command)" = $argv[1]
end
function __gpubench_is_first
    test -z "$(__gpubench_command)"
end
# Before a command stand the options of run.
function __gpubench_runs_script
    __gpubench_is_first; or __gpubench_is run
end
function __gpubench_scripts
    __gpubench_call list --names
    __fish_complete_suffix .lua
end
function __gpubench_stored_runs
    for table in results/*/*/results.csv
        string split -f 2 / $table
        string split -f 3 / $table
    end
    __fish_complete_suffix .tar.gz
end
# AXIS=, and behind it the axis' values, of the first word of the line that is a script.
function __gpubench_settings
    set -l token (commandline -ct)
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if string match -q -- '-*' $word
            continue
        end
        set -l names (__gpubench_call list --settings $word)
        or continue
        if string match -q -- '*=*' $token
            set -l axis (string split -m 1 -f 1 = -- $token)
            set -l before (string match -r -- '^.*[=,]' $token)
            for value in (__gpubench_call list --settings $word --values $axis)
                echo $before$value
            end
        else
            printf '%s=\n' $names
        end
        return
    end
end
complete -c gpubench -f
)SH";

std::string fish_quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return "'" + escaped + "'";
}

/// The words behind -a of `complete`; empty where nothing is offered, or files are.
std::string fish_words(const std::string& kind) {
  if (kind == "<script>") return "'(__gpubench_scripts)'";
  if (kind == "<folder>") return "'(__fish_complete_directories)'";
  if (kind == "<run>") return "'(__gpubench_stored_runs)'";
  if (kind == "<setting>") return "'(__gpubench_settings)'";
  if (kind == "<experiment>") return "'(__gpubench_call list --names)'";
  if (is_names(kind)) return "'(__gpubench_call help --names " + kind_of_names(kind) + ")'";
  return kind == "<file>" || kind.empty() ? "" : fish_quoted(kind);
}

/// The options of `complete` for what a value or an argument may be.
std::string fish_values(const CLI::Option& option) {
  const std::string kind = completed_by(option), words = fish_words(kind);
  const std::string files = kind == "<file>" ? " -F" : " -f";
  return (option.get_positional() ? "" : " -r") + files + (words.empty() ? "" : " -a " + words);
}

std::string fish_lines(const Grammar& grammar, const std::string& command) {
  const std::string where = "complete -c gpubench -n " +
                            fish_quoted(command == "run" ? "__gpubench_runs_script" : "__gpubench_is " + command);
  std::string text;
  for (const CLI::Option* option : options_of(grammar, command)) {
    if (option->get_positional()) {
      text += where + fish_values(*option) + "\n";
      continue;
    }
    text += where + " -l " + option->get_lnames().front();
    if (takes_value(*option)) text += fish_values(*option);
    text += " -d " + fish_quoted(option->get_description()) + "\n";
  }
  return text;
}

}  // namespace

std::string fish_completion(const Grammar& grammar) {
  std::string text = fish_head;
  text += "set -g __gpubench_commands " + command_names(grammar) + "\n";
  for (const std::string& command : commands_of(grammar)) {
    text += "complete -c gpubench -n __gpubench_is_first -a " + command + " -d " +
            fish_quoted(grammar.command(command).get_description()) + "\n" + fish_lines(grammar, command);
  }
  return text;
}

}  // namespace gpubench
