#include <CLI/CLI.hpp>

#include "lua/host/completion_words.h"
#include "lua/host/grammar.h"

namespace gpubench {
namespace {

constexpr const char* zsh_head =
    R"SH(#compdef gpubench
# zsh completion for gpubench; keep it as _gpubench in a folder of $fpath
_gpubench_experiments() { compadd -- ${(f)"$(${words[1]} list --names 2>/dev/null)"} }
_gpubench_scripts() { _gpubench_experiments; _files -g '*.lua' }
_gpubench_topics() { compadd -- ${(f)"$(${words[1]} help --names $* 2>/dev/null)"} }
_gpubench_settings() {
  local word found
  local -a more
  if compset -P '*='; then
    more=(--values ${IPREFIX%=})
    compset -P '*,'
  fi
  for word in ${words[2,CURRENT-1]}; do
    [[ $word == -* ]] && continue
    found=(${(f)"$(${words[1]} list --settings $word $more 2>/dev/null)"})
    (( $#found )) || continue
    if (( $#more )); then compadd -S '' -- $found; else compadd -S = -- $found; fi
    return
  done
}
_gpubench_runs() {
  compadd -- results/*/*/results.csv(N:h:t) results/*/*/results.csv(N:h:h:t)
  _files -g '*.tar.gz'
}
_gpubench() {
  local -a commands=(
)SH";

/// Text inside '...[description]:message:action' of zsh's _arguments.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') escaped += '\\';
    escaped += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return escaped;
}

std::string zsh_action(const CLI::Option& option) {
  const std::string kind = completed_by(option);
  if (kind == "<script>") return "_gpubench_scripts";
  if (kind == "<folder>") return "_files -/";
  if (kind == "<file>") return "_files";
  if (kind == "<run>") return "_gpubench_runs";
  if (kind == "<setting>") return "_gpubench_settings";
  if (kind == "<experiment>") return "_gpubench_experiments";
  // A blank in front keeps _arguments from adding words of its own.
  if (is_names(kind)) return " _gpubench_topics " + kind_of_names(kind);
  return kind.empty() ? " " : "(" + kind + ")";
}

std::string zsh_branch(const Grammar& grammar, const std::string& command) {
  std::string text = "    " + (command == "run" ? "*" : command) + ") _arguments";
  for (const CLI::Option* option : options_of(grammar, command)) {
    const std::string description = zsh_text(option->get_description());
    if (option->get_positional()) {
      text += " \\\n      '*:" + description + ":" + zsh_action(*option) + "'";
      continue;
    }
    text += " \\\n      '--" + option->get_lnames().front() + "[" + description + "]";
    if (takes_value(*option)) text += ":" + zsh_text(option->get_type_name()) + ":" + zsh_action(*option);
    text += "'";
  }
  return text + " ;;\n";
}

}  // namespace

std::string zsh_completion(const Grammar& grammar) {
  std::string text = zsh_head;
  for (const std::string& command : commands_of(grammar))
    text += "    '" + command + ":" + zsh_text(grammar.command(command).get_description()) + "'\n";
  text +=
      "  )\n  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
      "    _describe command commands\n    _gpubench_scripts\n    return\n  fi\n  case $words[2] in\n";
  for (const std::string& command : commands_of(grammar)) text += zsh_branch(grammar, command);
  return text + "  esac\n}\nif [[ $funcstack[1] == _gpubench ]]; then _gpubench; else compdef _gpubench gpubench; fi\n";
}

}  // namespace gpubench
