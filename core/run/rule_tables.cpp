#include "core/run/rule_tables.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/report/text/table.h"
#include "core/report/text/text.h"
#include "core/traces/open_traces.h"

namespace gpubench {
namespace {

Table text_table(const ReferenceTable& times) {
  Table table{.headings = {{"us"}}, .rows = {}};
  for (const std::string_view name : times.classes) table.headings.push_back({std::string(name), Align::right});
  for (const ReferenceTable::Row& row : times.rows) {
    std::vector<std::string> cells{one_line(row.name)};
    for (const double time : row.times_us) cells.push_back(fmt::format("{:.0f}", time));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Info::List rows_info(const ReferenceTable& table) {
  Info::List rows;
  for (const ReferenceTable::Row& row : table.rows) {
    Info::Fields times;
    for (std::size_t i = 0; i < table.classes.size(); ++i) times.emplace_back(table.classes[i], row.times_us[i]);
    rows.push_back(Info::Fields{{"name", row.name}, {"times", std::move(times)}});
  }
  return rows;
}

}  // namespace

RuleTables rule_tables(const std::vector<std::filesystem::path>& places, ReferenceRule rule) {
  OpenedTraces opened = open_traces(places);
  std::ranges::stable_sort(opened.ranks, {}, &ForeignTrace::rank);
  RuleTables tables{.rule = rule, .traces = {}, .notes = std::move(opened.notes)};
  for (const ForeignTrace& trace : opened.ranks)
    tables.traces.push_back({trace.file, trace.rank, reference_table(trace, rule)});
  return tables;
}

std::string rule_tables_text(const RuleTables& tables, const TextStyle& style) {
  std::string text =
      wrap_words(fmt::format("By {}. These are not the figures of explain.", words_of(tables.rule)), 0, 0, style.width);
  for (const RuleTables::Trace& trace : tables.traces) {
    const std::string rank = trace.rank >= 0 ? fmt::format(", rank {}", trace.rank) : "";
    text += fmt::format("\n{}{}\n{}", one_line(trace.file), rank, render_text(text_table(trace.table)));
  }
  for (const std::string& note : tables.notes) text += "\n" + wrap_words(one_line("note: " + note), 0, 2, style.width);
  return text;
}

Info rule_tables_info(const RuleTables& tables) {
  Info::List traces;
  for (const RuleTables::Trace& trace : tables.traces) {
    Info one = Info::Fields{{"file", trace.file}};
    if (trace.rank >= 0) one.set("rank", trace.rank);
    one.set("rows", rows_info(trace.table));
    traces.push_back(std::move(one));
  }
  return Info::Fields{{"rule", std::string(reference_rules[tables.rule])},
                      {"meaning", std::string(words_of(tables.rule))},
                      {"unit", "us"},
                      {"traces", std::move(traces)},
                      {"notes", Info::List(tables.notes.begin(), tables.notes.end())}};
}

}  // namespace gpubench
