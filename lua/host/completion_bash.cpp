#include <CLI/CLI.hpp>

#include "lua/host/completion_words.h"
#include "lua/host/grammar.h"

namespace gpubench {
namespace {

constexpr const char* bash_head =
    R"SH(# bash completion for gpubench; source it, or keep it in ~/.local/share/bash-completion/completions/gpubench
_gpubench_names() { "${COMP_WORDS[0]}" list --names 2>/dev/null; }
_gpubench_runs() {
  local table
  for table in results/*/*/results.csv; do
    [[ -e $table ]] || continue
    table=${table#results/}; table=${table%/results.csv}
    printf '%s\n%s\n' "${table%%/*}" "${table#*/}"
  done | sort -u
}
# Offers the lines of its input. compgen -W would expand what is in them, as the shell the word that is offered: names of
# files come from anywhere, so only those are offered that mean themselves.
_gpubench_offer() {
  local line
  while IFS= read -r line; do
    if [[ $line == "$cur"* && $line =~ ^~?[[:alnum:]_.:@%+,/-]+$ ]]; then COMPREPLY+=("$line"); fi
  done
}
# What --set takes for the first word of the line that is a script; with the options that are given.
_gpubench_settings() {
  local word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word != -* ]] && "${COMP_WORDS[0]}" list --settings "$word" "$@" 2>/dev/null; then return; fi
  done
}
_gpubench_setting() {
  compopt -o nospace 2>/dev/null
  if [[ $axis ]]; then
    local before=
    if [[ $cur == *,* ]]; then before=${cur%,*},; cur=${cur##*,}; fi
    _gpubench_offer < <(_gpubench_settings --values "$axis")
    COMPREPLY=("${COMPREPLY[@]/#/$before}")
  else
    _gpubench_offer < <(_gpubench_settings)
    COMPREPLY=("${COMPREPLY[@]/%/=}")
  fi
}
_gpubench_complete() {
  case $1 in
    '<setting>') _gpubench_setting ;;
    '<script>')
      compopt -o filenames 2>/dev/null
      _gpubench_offer < <(_gpubench_names; compgen -f -X '!*.lua' -- "$cur")
      if [[ $cur == */* || ${#COMPREPLY[@]} == 0 ]]; then _gpubench_offer < <(compgen -d -- "$cur"); fi ;;
    '<folder>') compopt -o filenames 2>/dev/null; _gpubench_offer < <(compgen -d -- "$cur") ;;
    '<file>') compopt -o filenames 2>/dev/null; _gpubench_offer < <(compgen -f -- "$cur") ;;
    '<run>') _gpubench_offer < <(_gpubench_runs; compgen -f -X '!*.tar.gz' -- "$cur") ;;
    '<experiment>') _gpubench_offer < <(_gpubench_names) ;;
    '<names>') _gpubench_offer < <("${COMP_WORDS[0]}" help --names 2>/dev/null) ;;
    '<names '*) _gpubench_offer < <("${COMP_WORDS[0]}" help --names "${1:7:-1}" 2>/dev/null) ;;
    *) COMPREPLY=($(compgen -W "$1" -- "$cur")) ;;
  esac
}
_gpubench() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} axis=
  # bash takes '=' for a word of its own: --set AXIS = VALUE, and --option = VALUE.
  if [[ $cur == = ]]; then
    cur= axis=$previous previous=${COMP_WORDS[COMP_CWORD-2]}
  elif [[ $previous == = ]] && ((COMP_CWORD > 2)); then
    axis=${COMP_WORDS[COMP_CWORD-2]} previous=${COMP_WORDS[COMP_CWORD-3]}
  fi
  if [[ $axis == -* ]]; then previous=$axis axis=; fi
  COMPREPLY=()
)SH";

std::string bash_pattern(const std::string& command) {
  return command == "run" ? "*" : command;
}

std::string bash_branch(const Grammar& grammar, const std::string& command) {
  std::string values;
  std::string names;
  for (const CLI::Option* option : options_of(grammar, command)) {
    for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : " --") + name;
    if (takes_value(*option))
      values += "        --" + option->get_lnames().front() + ") _gpubench_complete '" + completed_by(*option) +
                "'; return ;;\n";
  }
  const CLI::Option* argument = argument_of(grammar.command(command));
  return "    " + bash_pattern(command) + ")\n" +
         (values.empty() ? "" : "      case $previous in\n" + values + "      esac\n") +
         "      if [[ $cur == -* ]]; then _gpubench_complete '" + names + "'\n      else _gpubench_complete '" +
         (argument ? completed_by(*argument) : "") + "'; fi ;;\n";
}

}  // namespace

std::string bash_completion(const Grammar& grammar) {
  std::string text = bash_head;
  text +=
      "  if ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then\n    _gpubench_complete '<script>'\n    "
      "COMPREPLY+=($(compgen -W '" +
      command_names(grammar) + "' -- \"$cur\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const std::string& command : commands_of(grammar)) text += bash_branch(grammar, command);
  return text + "  esac\n}\ncomplete -F _gpubench gpubench\n";
}

}  // namespace gpubench
