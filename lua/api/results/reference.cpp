// gb._native.reference, the tables of the program that `gpubench help` explains; the host adds the command line:
//   columns()    { name, unit, better, kind, filled_by, meaning, has_interval }
//   findings()   { name, title, meaning, rule, limits = { name, value, source }, remedies, proof }
//   remedies()   { name, advice, changes_results, findings, lua, pytorch, keras, jax: lines of code }
//   options()    function -> option -> { required, default }: those that a native function or method takes
//   other_names()     names of Keras, tf.data and PyTorch that are called otherwise here, or are missing
//   other_name(name)  { place, is_absent, text } of each place where such a name has an answer
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/base/other_names.h"
#include "core/diagnose/findings.h"
#include "core/nn/layer_kind.h"
#include "core/nn/loss.h"
#include "core/nn/metric.h"
#include "core/results/column.h"
#include "core/train/optimizer.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

Info text_of_table(std::string_view text) {
  return std::string(text);
}

/// The ends of intervals belong to their column.
Info::List all_columns() {
  Info::List list;
  std::set<std::string> ends;
  for (const auto& columns : {standard_columns(), optional_columns()}) {
    for (const Column& column : columns) {
      if (ends.contains(column.name)) continue;
      if (column.has_interval)
        for (const char* end : {"low", "high"}) ends.insert(interval_end(column, end));
      list.emplace_back(Info::Fields{{"name", column.name},
                                     {"unit", text_of_table(to_string(column.unit))},
                                     {"better", text_of_table(to_string(column.better))},
                                     {"kind", text_of_table(to_string(column.kind))},
                                     {"filled_by", text_of_table(column.filled_by)},
                                     {"meaning", text_of_table(column.description)},
                                     {"has_interval", column.has_interval}});
    }
  }
  return list;
}

Info::List names_of_remedies(std::span<const Remedy> remedies) {
  Info::List list;
  for (const Remedy remedy : remedies) list.push_back(text_of_table(to_string(remedy)));
  return list;
}

Info::List all_findings() {
  Info::List list;
  for (const FindingRule* const rule : finding_rules()) {
    Info::List limits;
    for (const Threshold& limit : rule->thresholds)
      limits.emplace_back(Info::Fields{{"name", text_of_table(limit.name)},
                                       {"value", text_of_table(limit.text)},
                                       {"source", text_of_table(limit.source)}});
    list.emplace_back(Info::Fields{{"name", text_of_table(rule->name)},
                                   {"title", text_of_table(rule->title)},
                                   {"meaning", text_of_table(rule->meaning)},
                                   {"rule", text_of_table(rule->rule)},
                                   {"limits", std::move(limits)},
                                   {"remedies", names_of_remedies(rule->remedies)},
                                   {"proof", text_of_table(rule->proof.in(Words::lua))}});
  }
  return list;
}

Info::List all_remedies() {
  Info::List list;
  for (const RemedyText& remedy : remedies()) {
    Info::List findings;
    for (const std::string_view name : findings_with(remedy.remedy)) findings.push_back(text_of_table(name));
    list.emplace_back(Info::Fields{{"name", text_of_table(remedy.name)},
                                   {"advice", text_of_table(remedy.advice)},
                                   {"changes_results", remedy.changes_results},
                                   {"findings", std::move(findings)},
                                   {"lua", text_of_table(remedy.line(Words::lua))},
                                   {"pytorch", text_of_table(remedy.line(Words::pytorch))},
                                   {"keras", text_of_table(remedy.line(Words::keras))},
                                   {"jax", text_of_table(remedy.line(Words::jax))}});
  }
  return list;
}

std::vector<std::string> list_of_other_names() {
  const auto names = all_other_names();
  return {names.begin(), names.end()};
}

Info answers_to_other_name(const std::string& name) {
  Info::List list;
  for (const OtherName& one : find_other_names(name)) {
    const bool is_folder = one.kind == OtherName::Kind::folder;
    list.emplace_back(Info::Fields{{"place", one.section},
                                   {"is_absent", one.kind == OtherName::Kind::absent},
                                   {"text", is_folder ? "its members are in " + one.members() : one.text}});
  }
  return list;
}

Info declared_field(const ConfigField& field) {
  Info::Fields facts{{"required", field.required}};
  if (const auto* flag = std::get_if<bool>(&field.fallback)) facts.emplace_back("default", *flag);
  if (const auto* integer = std::get_if<std::int64_t>(&field.fallback)) facts.emplace_back("default", *integer);
  if (const auto* number = std::get_if<double>(&field.fallback)) facts.emplace_back("default", *number);
  if (const auto* text = std::get_if<std::string>(&field.fallback)) facts.emplace_back("default", *text);
  return facts;
}

template <class Kinds>
void add_kinds(Info::Fields& functions, const std::string& table, const Kinds& kinds) {
  for (const auto& kind : kinds) {
    Info::Fields options;
    for (const ConfigField& field : kind.fields) options.emplace_back(field.name, declared_field(field));
    functions.emplace_back(table + kind.name, std::move(options));
  }
}

/// What functions of gb and methods declare, and the kinds of layers and the like, whose functions read their options
/// from core's tables. Losses, metrics and optimizers have core's names: "gb.optimizers.adam".
int all_options(lua_State* L) {
  push_declared_options(L);
  Info::Fields kinds;
  add_kinds(kinds, "gb.layers.", layer_kinds());
  add_kinds(kinds, "gb.losses.", loss_kinds());
  add_kinds(kinds, "gb.metrics.", metric_kinds());
  add_kinds(kinds, "gb.optimizers.", optimizer_kinds());
  for (const auto& [name, options] : kinds) {
    Value<Info>::push(L, options);
    lua_setfield(L, -2, name.c_str());
  }
  return 1;
}

}  // namespace

void open_reference(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  native.submodule("reference")
      .function<[] { return Info(all_columns()); }>("columns")
      .function<[] { return Info(all_findings()); }>("findings")
      .function<[] { return Info(all_remedies()); }>("remedies")
      .function<&list_of_other_names>("other_names")
      .function<&answers_to_other_name>("other_name")
      .function<&all_options, 0>("options");
}

}  // namespace gpubench::lua
