#include "lua/host/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "lua/host/grammar.h"

namespace gpubench {
namespace {

/// Names of all commands; run is the last, because its branch also takes everything that is no command.
std::vector<std::string> commands_of(const Grammar& grammar) {
  std::vector<std::string> names;
  for (const CLI::App* command : grammar.app().get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() != "run") names.push_back(command->get_name());
  names.emplace_back("run");
  return names;
}

std::string pattern_of(const std::string& command) {
  return command == "run" ? "*" : command;
}

std::string command_names(const Grammar& grammar) {
  std::string names;
  for (const std::string& name : commands_of(grammar)) names += (names.empty() ? "" : " ") + name;
  return names;
}

// The completion of an option's value or a command's argument: a kind known to the shell function, or a list of words.
std::string completed_by(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t choices = type.find(":{");  // as CLI::IsMember writes them: "FORMAT:{text,csv}"
  if (choices != std::string::npos) {
    std::string words = type.substr(choices + 2, type.find('}') - choices - 2);
    std::ranges::replace(words, ',', ' ');
    return words;
  }
  if (type.starts_with("SCRIPT")) return "<script>";
  if (type.starts_with("DIR")) return "<folder>";
  if (type.starts_with("RUN") || type.starts_with("SIDE")) return "<run>";
  if (type.starts_with("DEVICE")) return "cpu:0 gpu:0 gpu:1";
  if (type.starts_with("FILE")) return "<file>";
  if (type.starts_with("AXIS=")) return "<setting>";
  if (type.starts_with("WHAT")) return "ok reliable device=";
  return "";
}

const CLI::Option* argument_of(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional()) return option;
  return nullptr;
}

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
# What --set takes for the first word of the line that is a script.
_gpubench_settings() {
  local word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word != -* ]] && "${COMP_WORDS[0]}" list --settings "$word" 2>/dev/null; then return; fi
  done
}
_gpubench_complete() {
  case $1 in
    '<setting>') compopt -o nospace 2>/dev/null; _gpubench_offer < <(_gpubench_settings); COMPREPLY=("${COMPREPLY[@]/%/=}") ;;
    '<script>')
      compopt -o filenames 2>/dev/null
      _gpubench_offer < <(_gpubench_names; compgen -f -X '!*.lua' -- "$cur")
      if [[ $cur == */* || ${#COMPREPLY[@]} == 0 ]]; then _gpubench_offer < <(compgen -d -- "$cur"); fi ;;
    '<folder>') compopt -o filenames 2>/dev/null; _gpubench_offer < <(compgen -d -- "$cur") ;;
    '<file>') compopt -o filenames 2>/dev/null; _gpubench_offer < <(compgen -f -- "$cur") ;;
    '<run>') _gpubench_offer < <(_gpubench_runs; compgen -f -X '!*.tar.gz' -- "$cur") ;;
    *) COMPREPLY=($(compgen -W "$1" -- "$cur")) ;;
  esac
}
_gpubench() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
)SH";

// A command's options; before any command stand the program's own and those of run.
std::vector<const CLI::Option*> options_of(const Grammar& grammar, const std::string& command) {
  std::vector<const CLI::Option*> options = grammar.command(command).get_options();
  if (command != "run") return options;
  for (const CLI::Option* own : grammar.app().get_options()) {
    const auto has_name = [&](const CLI::Option* option) { return option->get_lnames() == own->get_lnames(); };
    if (!own->get_positional() && std::ranges::none_of(options, has_name)) options.push_back(own);
  }
  return options;
}

std::string bash_branch(const Grammar& grammar, const std::string& command) {
  const CLI::App& app = grammar.command(command);
  std::string values;
  std::string names;
  for (const CLI::Option* option : options_of(grammar, command)) {
    for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : " --") + name;
    if (takes_value(*option))
      values += "        --" + option->get_lnames().front() + ") _gpubench_complete '" + completed_by(*option) +
                "'; return ;;\n";
  }
  const CLI::Option* argument = argument_of(app);
  return "    " + pattern_of(command) + ")\n" +
         (values.empty() ? "" : "      case $previous in\n" + values + "      esac\n") +
         "      if [[ $cur == -* ]]; then _gpubench_complete '" + names + "'\n      else _gpubench_complete '" +
         (argument ? completed_by(*argument) : "") + "'; fi ;;\n";
}

std::string bash_script(const Grammar& grammar) {
  std::string text = bash_head;
  text +=
      "  if ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then\n    _gpubench_complete '<script>'\n    "
      "COMPREPLY+=($(compgen -W '" +
      command_names(grammar) + "' -- \"$cur\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const std::string& command : commands_of(grammar)) text += bash_branch(grammar, command);
  return text + "  esac\n}\ncomplete -F _gpubench gpubench\n";
}

// Text inside '...[description]:message:action' of zsh's _arguments.
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
  return kind.empty() ? " " : "(" + kind + ")";
}

std::string zsh_branch(const Grammar& grammar, const std::string& command) {
  std::string text = "    " + pattern_of(command) + ") _arguments";
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

std::string zsh_script(const Grammar& grammar) {
  std::string text =
      "#compdef gpubench\n# zsh completion for gpubench; keep it as _gpubench in a folder of $fpath\n"
      "_gpubench_scripts() { compadd -- ${(f)\"$(${words[1]} list --names 2>/dev/null)\"}; _files -g '*.lua' }\n"
      "_gpubench_settings() {\n  local word names\n  for word in ${words[2,CURRENT-1]}; do\n"
      "    [[ $word == -* ]] && continue\n    names=(${(f)\"$(${words[1]} list --settings $word 2>/dev/null)\"})\n"
      "    if (( $#names )); then compadd -S = -- $names; return; fi\n  done\n}\n"
      "_gpubench_runs() { compadd -- results/*/*/results.csv(N:h:t) results/*/*/results.csv(N:h:h:t); "
      "_files -g '*.tar.gz' }\n"
      "_gpubench() {\n  local -a commands=(\n";
  for (const std::string& command : commands_of(grammar)) {
    const CLI::App& app = grammar.command(command);
    text += "    '" + app.get_name() + ":" + zsh_text(app.get_description()) + "'\n";
  }
  text +=
      "  )\n  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
      "    _describe command commands\n    _gpubench_scripts\n    return\n  fi\n  case $words[2] in\n";
  for (const std::string& command : commands_of(grammar)) text += zsh_branch(grammar, command);
  return text + "  esac\n}\nif [[ $funcstack[1] == _gpubench ]]; then _gpubench; else compdef _gpubench gpubench; fi\n";
}

}  // namespace

std::string completion_script(const std::string& shell, const Grammar& grammar) {
  return shell == "bash" ? bash_script(grammar) : zsh_script(grammar);
}

}  // namespace gpubench
