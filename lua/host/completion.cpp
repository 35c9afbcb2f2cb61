#include "lua/host/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "core/base/resources.h"
#include "core/run/tune_job.h"
#include "lua/host/completion_words.h"
#include "lua/host/grammar.h"

namespace gpubench {
namespace {

constexpr std::string_view names_begin = "<names";

std::string joined_words(std::vector<std::string> words) {
  std::ranges::sort(words);
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string suite_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(resource("suites")))
    if (entry.path().extension() == ".lua") names.push_back(entry.path().stem().string());
  return joined_words(std::move(names));
}

}  // namespace

std::vector<std::string> commands_of(const Grammar& grammar) {
  std::vector<std::string> names;
  for (const CLI::App* command : grammar.app().get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() != "run") names.push_back(command->get_name());
  names.emplace_back("run");
  return names;
}

std::string command_names(const Grammar& grammar) {
  std::string names;
  for (const std::string& name : commands_of(grammar)) names += (names.empty() ? "" : " ") + name;
  return names;
}

std::vector<const CLI::Option*> options_of(const Grammar& grammar, const std::string& command) {
  std::vector<const CLI::Option*> options = grammar.command(command).get_options();
  if (command != "run") return options;
  for (const CLI::Option* own : grammar.app().get_options()) {
    const auto has_name = [&](const CLI::Option* option) { return option->get_lnames() == own->get_lnames(); };
    if (!own->get_positional() && std::ranges::none_of(options, has_name)) options.push_back(own);
  }
  return options;
}

const CLI::Option* argument_of(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) return option;
  return nullptr;
}

std::string completed_by(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t choices = type.find(":{");  // as CLI::IsMember writes them: "FORMAT:{text,csv}"
  if (choices != std::string::npos) {
    std::string words = type.substr(choices + 2, type.find('}') - choices - 2);
    std::ranges::replace(words, ',', ' ');
    return words;
  }
  if (type == "JOB_REMEDY") return joined_words(job_remedies());
  if (type == "SUITE") return suite_names();
  struct Kind {
    std::string_view type, completed_by;
  };
  constexpr Kind kinds[] = {{"SCRIPT", "<script>"},
                            {"DIR", "<folder>"},
                            {"RUN", "<run>"},
                            {"SIDE", "<run>"},
                            {"DEVICE", "cpu:0 gpu:0 gpu:1"},
                            {"FILE", "<file>"},
                            {"AXIS=", "<setting>"},
                            {"WHAT", "ok reliable device="},
                            {"EXPERIMENT", "<experiment>"},
                            {"COLUMN", "<names columns>"},
                            {"REMEDY", "<names tuned>"},
                            {"TOPIC", "<names>"},
                            {"HISTORY", "<file>"},
                            {"save NAME", "save list"}};
  for (const Kind& kind : kinds)
    if (type.starts_with(kind.type)) return std::string(kind.completed_by);
  return "";
}

bool is_names(const std::string& kind) {
  return kind.starts_with(names_begin);
}

std::string kind_of_names(const std::string& kind) {
  const std::string behind = kind.substr(names_begin.size());
  return behind == ">" ? "" : behind.substr(1, behind.size() - 2);
}

std::string completion_script(const std::string& shell, const Grammar& grammar) {
  if (shell == "bash") return bash_completion(grammar);
  return shell == "zsh" ? zsh_completion(grammar) : fish_completion(grammar);
}

}  // namespace gpubench
