#include "core/report/page/comparison_page.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "core/base/units.h"
#include "core/compare/fingerprint.h"
#include "core/report/chart/comparison_charts.h"
#include "core/report/page/embedded_charts.h"
#include "core/report/page/page_parts.h"
#include "core/report/page/page_sections.h"
#include "core/report/page/side_sections.h"
#include "core/report/text/comparison.h"
#include "core/report/text/comparison_lines.h"

namespace gpubench {
namespace {

// Rows of one table; more are in the data.
constexpr std::size_t most_changes_in_table = 1000;
constexpr std::size_t most_traced_rows = 20;

std::string look_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::worse:
    case ChangeVerdict::vanished:
      return "refuted";
    case ChangeVerdict::better:
      return "confirmed";
    case ChangeVerdict::ambiguous:
    case ChangeVerdict::invalid:
    case ChangeVerdict::changed:
      return "open";
    case ChangeVerdict::same:
      break;
  }
  return "";
}

bool any_called(const Comparison& comparison, std::size_t side) {
  return std::ranges::any_of(changes_of_side(comparison, side),
                             [](const PlacedChange& one) { return one.change->verdict <= ChangeVerdict::changed; });
}

/// "of after", where there are several sides to tell apart.
std::string of_side(const Comparison& comparison, std::size_t side) {
  return comparison.sides.size() > 2 ? " of " + comparison.sides[side].name : "";
}

// ---- What differs

PageSection differences_section(const Comparison& comparison) {
  PageSection section{.id = "differs", .heading = "What differs"};
  for (std::size_t side = 1; side < comparison.sides.size(); ++side)
    if (any_called(comparison, side))
      section.lines.push_back(fmt::format("Possible causes{}: {}", of_side(comparison, side), comparison.causes[side]));
  if (comparison.differences.empty()) {
    section.lines.emplace_back("Nothing that is recorded differs between the sides.");
    return section;
  }
  Table table{.headings = {{"origin"}, {"fact"}}, .rows = {}};
  for (const ComparedSide& side : comparison.sides) table.headings.push_back({side.name});
  for (const Difference& one : comparison.differences) {
    std::vector<std::string> row{std::string(to_string(one.origin)), one.key};
    row.insert(row.end(), one.values.begin(), one.values.end());
    table.rows.push_back(std::move(row));
  }
  section.tables.push_back({.caption = "What differs between the sides", .table = std::move(table)});
  return section;
}

// ---- Changes

PageTable table_of_changes(std::string caption, std::vector<PlacedChange> changes, bool folded) {
  if (changes.size() > most_changes_in_table) {
    caption += fmt::format(", the first {}", most_changes_in_table);
    changes.resize(most_changes_in_table);
  }
  PageTable table{.caption = std::move(caption), .table = change_table(changes), .folded = folded};
  for (const PlacedChange& one : changes) table.looks.push_back(look_of(one.change->verdict));
  return table;
}

void add_tables_of_changes(const Comparison& comparison, std::size_t side, PageSection& section) {
  std::vector<PlacedChange> changes = changes_of_side(comparison, side), same;
  std::ranges::copy_if(changes, std::back_inserter(same),
                       [](const PlacedChange& one) { return one.change->verdict == ChangeVerdict::same; });
  std::erase_if(changes, [](const PlacedChange& one) { return one.change->verdict == ChangeVerdict::same; });
  for (const std::string& reason : reasons_of(changes)) section.items.push_back({reason});
  const std::string whose = of_side(comparison, side);
  if (!changes.empty()) section.tables.push_back(table_of_changes("Changes" + whose, std::move(changes), false));
  const std::string caption = fmt::format("{} SAME{}", same.size(), whose);
  if (!same.empty()) section.tables.push_back(table_of_changes(caption, std::move(same), true));
}

PageSection changes_section(const Comparison& comparison) {
  PageSection section{.id = "changes", .heading = "Changes"};
  for (const GeometricMean& mean : comparison.means) section.lines.push_back(mean_text(comparison, mean));
  Drawing drawing = draw_embedded(comparison_charts(comparison));
  section.charts = std::move(drawing.charts);
  for (const std::string& note : drawing.notes) section.items.push_back({note});
  for (std::size_t side = 1; side < comparison.sides.size(); ++side) add_tables_of_changes(comparison, side, section);
  section.note =
      "Bars are 95 % intervals of the change. In the charts a change for the worse is positive, whatever the direction "
      "of its figure. False alarms: how often equal sides would be called different, at most. Sees from: the smallest "
      "change that would be found in 95 % of such comparisons.";
  return section;
}

// ---- Where the time went

std::string class_text(const ClassChange& one) {
  std::string text = fmt::format("{:.1f} % → {:.1f} %", 100 * one.before, 100 * one.after);
  if (one.added_s) text += fmt::format(" ({}{})", *one.added_s < 0 ? "−" : "+", format_seconds(std::abs(*one.added_s)));
  return text;
}

PageSection breakdown_section(const Comparison& comparison) {
  PageSection section{.id = "time", .heading = "Where the time went"};
  std::vector<const ComparedRow*> rows;
  std::vector<std::string_view> names;
  for (const ComparedRow& row : comparison.rows) {
    const bool is_worse = std::ranges::any_of(row.changes, [](const Change& one) { return one.is_alarm(); });
    if (!is_worse || row.breakdown.classes.empty() || rows.size() == most_traced_rows) continue;
    rows.push_back(&row);
    for (const ClassChange& one : row.breakdown.classes)
      if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
  }
  if (rows.empty()) return section;
  Table table{.headings = {{"row"}, {"step"}}, .rows = {}};
  for (const std::string_view name : names) table.headings.push_back({std::string(name)});
  for (const ComparedRow* const row : rows) {
    const std::optional<double> added = row->breakdown.added_s;
    std::vector<std::string> cells{
        row_text(*row) + of_side(comparison, row->side),
        added ? fmt::format("{}{}", *added < 0 ? "−" : "+", format_seconds(std::abs(*added))) : ""};
    for (const std::string_view name : names) {
      const auto found = std::ranges::find(row->breakdown.classes, name, &ClassChange::name);
      cells.push_back(found == row->breakdown.classes.end() ? "" : class_text(*found));
    }
    table.rows.push_back(std::move(cells));
    if (const std::string text = row->breakdown.main_class_text(); !text.empty())
      section.items.push_back({fmt::format("{}: {}", row_text(*row), text)});
  }
  section.tables.push_back({.caption = "Classes of the step's time", .table = std::move(table), .heads = 1});
  section.note = "Shares of the step before and after, and the time of a step that each class takes more or less.";
  return section;
}

// ---- Trust

PageSection trust_section(const Comparison& comparison) {
  PageSection section{.id = "trust", .heading = "How far to trust it"};
  std::string sides;
  for (const ComparedSide& side : comparison.sides)
    sides += fmt::format("{}{}: {}", sides.empty() ? "" : "; ", side.name, format_count(side.processes, "process"));
  section.items.push_back({sides + ". The process is the unit: a process counts with its median."});
  const std::size_t comparisons = all_changes(comparison).size();
  section.items.push_back({fmt::format("{} made, of {} in common", format_count(comparisons, "comparison"),
                                       format_count(comparison.common_rows, "row"))});
  section.items.push_back({trust_text(comparison)});
  if (const std::string next = next_step_text(comparison); !next.empty())
    section.items.push_back({"To settle what is ambiguous, " + next});
  return section;
}

std::vector<PageLink> data_links(const Comparison& comparison) {
  std::vector<PageLink> links;
  for (const auto& [file, type, format] : {std::tuple{"comparison.csv", "text/csv", Format::csv},
                                           std::tuple{"comparison.json", "application/json", Format::json}}) {
    embed_data(links, file, file, type, render_comparison(comparison, format));
  }
  links.push_back({"runs", "#runs"});
  return links;
}

}  // namespace

std::string comparison_page(std::span<const Side> sides, const Comparison& comparison,
                            const std::filesystem::path& folder) {
  std::string names;
  for (const ComparedSide& side : comparison.sides) names += (names.empty() ? "" : " → ") + side.name;
  SectionedPage page{.title = names,
                     .facts = {"comparison", names, format_count(comparison.common_rows, "common row")},
                     .headline = headline_of(comparison),
                     .lines = {counts_of(comparison)},
                     .links = data_links(comparison)};
  for (std::size_t side = 1; side < comparison.sides.size(); ++side)
    if (const std::string text = where_time_went(comparison, side); !text.empty())
      page.lines.push_back("Where the time went: " + text);
  page.sections = {differences_section(comparison), changes_section(comparison), breakdown_section(comparison),
                   trust_section(comparison)};
  for (PageSection& section : experiment_sections(sides)) page.sections.push_back(std::move(section));
  page.sections.push_back(runs_section(sides, folder));
  return sectioned_page(page);
}

}  // namespace gpubench
