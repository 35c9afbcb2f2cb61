// What gpubench help says of commands and options, as Lua has it.
#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "core/results/info.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"
#include "lua/host/grammar.h"
#include "lua/host/help.h"
#include "lua/host/natives.h"

namespace gpubench::lua {
namespace {

Info::Fields option_fields(const CLI::Option& option) {
  const bool is_argument = option.get_positional();
  const std::string type = option.get_type_name();
  const std::size_t choices = type.find(":{");  // as CLI::IsMember writes them: "FORMAT:{text,csv}"
  Info::Fields fields{{"name", is_argument ? option.get_name(true, false) : "--" + option.get_lnames().front()},
                      {"type", type.substr(0, choices)},
                      {"meaning", option.get_description()},
                      {"is_argument", is_argument},
                      {"is_required", option.get_required()},
                      {"takes_value", takes_value(option)}};
  if (choices != std::string::npos)
    fields.emplace_back("choices", type.substr(choices + 2, type.find('}') - choices - 2));
  return fields;
}

Info commands_of_grammar() {
  const Grammar grammar;
  Info::List commands;
  for (const CLI::App* command : grammar.app().get_subcommands([](const CLI::App*) { return true; })) {
    Info::List options;
    for (const CLI::Option* option : command->get_options()) options.emplace_back(option_fields(*option));
    commands.emplace_back(Info::Fields{{"name", command->get_name()},
                                       {"description", command->get_description()},
                                       {"help", command_help(grammar, command->get_name())},
                                       {"options", std::move(options)}});
  }
  return commands;
}

Info list_of(std::span<const HelpLine> lines) {
  Info::List list;
  for (const HelpLine& line : lines)
    list.emplace_back(Info::Fields{{"name", std::string(line.name)}, {"text", std::string(line.text)}});
  return list;
}

}  // namespace

void open_command_table(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  native.submodule("reference")
      .function<&commands_of_grammar>("commands")
      .function<[] { return list_of(exit_statuses()); }>("exit_statuses")
      .function<[] { return list_of(environment_variables()); }>("environment")
      .function<[] { return list_of(examples()); }>("examples")
      .function<[] { return complete_help(Grammar()); }>("program_help");
}

}  // namespace gpubench::lua
