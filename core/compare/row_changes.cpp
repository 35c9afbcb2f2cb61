#include "core/compare/row_changes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <set>

#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

const Column* column_in(const Processes& processes, const std::string& name) {
  for (const RowOfProcess& one : processes) {
    const auto found = std::ranges::find(one.process->columns, name, &Column::name);
    if (found != one.process->columns.end()) return &*found;
  }
  return nullptr;
}

// ---- Which figures

bool may_be_figure(const Column& column) {
  return column.kind != Kind::text && column.kind != Kind::setting && column.kind != Kind::extent;
}

}  // namespace

std::vector<ProcessFigures> figures_in(const Processes& processes, const std::string& name) {
  std::vector<ProcessFigures> all;
  for (const RowOfProcess& one : processes) {
    ProcessFigures figures;
    for (const Record* const record : one.records) {
      const std::optional<double> value = number_in(record->get(name));
      if (value && std::isfinite(*value)) figures.push_back(*value);
    }
    if (!figures.empty()) all.push_back(std::move(figures));
  }
  return all;
}

namespace {

/// Processes in which the figure is NaN or infinite.
std::size_t without_number(const Processes& processes, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::count_if(processes, [&](const RowOfProcess& one) {
    return std::ranges::any_of(one.records, [&](const Record* record) {
      const std::optional<double> value = number_in(record->get(name));
      return value && !std::isfinite(*value);
    });
  }));
}

}  // namespace

std::vector<Column> figures_of_row(const MatchedRow& row) {
  std::vector<Column> figures;
  std::set<std::string> seen;
  for (const auto& [axis, value] : row.key.axes) seen.insert(axis);
  // Most processes have the same columns.
  std::vector<const std::vector<Column>*> tables;
  for (const RowOfProcess& one : row.sides.front())
    if (tables.empty() || *tables.back() != one.process->columns) tables.push_back(&one.process->columns);
  for (const std::vector<Column>* const columns : tables) {
    for (const Column& column : *columns)
      for (const char* end : {"low", "high"}) seen.insert(interval_end(column, end));
  }
  for (const std::vector<Column>* const columns : tables) {
    for (const Column& column : *columns) {
      if (!may_be_figure(column) || !seen.insert(column.name).second) continue;
      if (!figures_in(row.sides.front(), column.name).empty()) figures.push_back(column);
    }
  }
  return figures;
}

namespace {

Column with_direction(Column column, const ComparisonOptions& options) {
  for (const auto& [name, better] : options.better)
    if (name == column.name) column.better = better;
  return column;
}

/// The names that the row's experiment is about.
std::set<std::string> names_of_interest(const MatchedRow& row) {
  std::set<std::string> names;
  for (const RowOfProcess& one : row.sides.front())
    for (const std::string& name : one.process->info.texts("figures")) names.insert(name);
  return names;
}

}  // namespace

std::vector<Column> chosen_figures(const MatchedRow& row, const ComparisonOptions& options) {
  std::vector<Column> all = figures_of_row(row);
  for (Column& one : all) one = with_direction(std::move(one), options);
  if (options.all_figures) return all;
  const auto those = [&](auto holds) {
    std::vector<Column> chosen;
    std::ranges::copy_if(all, std::back_inserter(chosen), holds);
    return chosen;
  };
  if (!options.figures.empty())
    return those(
        [&](const Column& one) { return std::ranges::find(options.figures, one.name) != options.figures.end(); });
  const std::set<std::string> names = names_of_interest(row);
  std::vector<Column> chosen = those([&](const Column& one) { return names.contains(one.name); });
  if (chosen.empty())
    chosen = those([](const Column& one) { return one.better != Better::neither && !one.full_tables_only; });
  return chosen.empty() ? all : chosen;
}

namespace {

// ---- What makes a comparison invalid

std::string unit_text(const Column& column) {
  const std::string_view unit = to_string(column.unit), better = to_string(column.better);
  return fmt::format("{}{}{}", unit.empty() ? "no unit" : unit, better.empty() ? "" : ", better ", better);
}

std::string text_of_difference(const Column& before, const Column& after) {
  if (before.unit == after.unit && before.better == after.better && before.kind == after.kind) return {};
  return fmt::format("the columns differ: {} ({}) and {} ({})", unit_text(before), to_string(before.kind),
                     unit_text(after), to_string(after.kind));
}

double median_in(const Processes& processes, const std::string& name) {
  return median(medians_of(figures_in(processes, name)));
}

/// Rows that do other arithmetic are no measurement of the same.
std::string other_work(const MatchedRow& row, std::size_t side, std::span<const Column> columns) {
  if (!row.sides.front().front().process->varied.empty()) return {};
  for (const Column& column : columns) {
    if (column.unit != Unit::flops || column.kind != Kind::counted) continue;
    if (figures_in(row.sides[side], column.name).empty()) continue;
    const double before = median_in(row.sides.front(), column.name), after = median_in(row.sides[side], column.name);
    if (before != after) return fmt::format("the work differs: {} is {} and {}", column.name, before, after);
  }
  return {};
}

/// A time that is longer, or a rate that is lower, only because the clock was slower says nothing about the code.
/// Clocks of which none explains the change leave it.
std::string explained_by_clock(const MatchedRow& row, std::size_t side, const Change& change,
                               std::span<const Column> columns) {
  if (change.column.kind != Kind::time || !change.log_ratio || change.column.better == Better::neither) return {};
  const double sign = change.column.better == Better::lower ? 1 : -1, slower = sign * change.log_ratio->value;
  std::string text;
  for (const Column& clock : columns) {
    if (clock.unit != Unit::hertz || clock.kind != Kind::sensor) continue;
    if (figures_in(row.sides[side], clock.name).empty()) continue;
    const double before = median_in(row.sides.front(), clock.name), after = median_in(row.sides[side], clock.name);
    if (before <= 0 || after <= 0) continue;
    const double in_cycles = slower + std::log(after / before);
    if (in_cycles * slower > 0) return {};  // the same sign in cycles
    text = fmt::format("the clock explains it: {} is {:.3g} and {:.3g}", clock.name, before, after);
  }
  return text;
}

/// Whether neither side was measured before the other; runs say when they began.
bool measured_in_turn(const Processes& before, const Processes& after) {
  const auto began = [](const RowOfProcess& one) { return one.process->info.text("started"); };
  const auto [first_before, last_before] = std::ranges::minmax(before, {}, began);
  const auto [first_after, last_after] = std::ranges::minmax(after, {}, began);
  return !began(first_before).empty() && !began(first_after).empty() && began(first_before) < began(last_after) &&
         began(first_after) < began(last_before);
}

/// Why most processes of the side that comes off worse were in doubt when they measured, unless both sides were and
/// took turns.
std::string doubt_about(const MatchedRow& row, std::size_t side, const Change& change) {
  const std::string_view column = quality_column(change.column.kind);
  if (column.empty()) return {};
  const auto doubt_of = [&](const Processes& processes) {
    std::size_t doubtful = 0;
    std::string why;
    for (const RowOfProcess& one : processes) {
      if (one.records.empty()) continue;
      const std::string text = to_text(one.records.front()->get(column));
      if (text.empty() || text == "ok") continue;
      ++doubtful;
      why = text;
    }
    return 2 * doubtful > processes.size() ? fmt::format("{} of {} processes {}", doubtful, processes.size(), why) : "";
  };
  const std::string before = doubt_of(row.sides.front()), after = doubt_of(row.sides[side]);
  // What disturbed both in turn is part of their scatter, which the test looks at.
  if (!before.empty() && !after.empty() && measured_in_turn(row.sides.front(), row.sides[side])) return {};
  if (change.verdict == ChangeVerdict::worse) return after;
  if (change.verdict == ChangeVerdict::better) return before;
  if (change.verdict != ChangeVerdict::changed) return {};
  return before.empty() ? after : before;
}

void invalidate(Change& change, std::string reason) {
  if (reason.empty()) return;
  change.verdict = ChangeVerdict::invalid;
  change.reason = std::move(reason);
}

// ---- Rows

/// Why the side has not measured what the baseline has; empty if it has.
std::string why_vanished(const MatchedRow& row, std::size_t side) {
  if (row.measured(side)) return row.new_failure(side);
  const Processes& processes = row.sides[side];
  if (processes.empty()) return "it is not there";
  for (const RowOfProcess& one : processes)
    if (!one.failure.empty()) return one.failure;
  return "nothing was measured";
}

/// Ratios and sums of such figures, of which none was measured, are no numbers any more.
bool are_extreme(std::span<const ProcessFigures> figures) {
  constexpr double largest = 1e100, smallest = 1e-100;
  return std::ranges::any_of(figures, [](const ProcessFigures& one) {
    return std::ranges::any_of(one,
                               [](double x) { return std::abs(x) > largest || (x != 0 && std::abs(x) < smallest); });
  });
}

Change change_of(const MatchedRow& row, std::size_t side, const Column& column, const ComparisonOptions& options) {
  const Processes& before = row.sides.front();
  const Processes& after = row.sides[side];
  const std::vector<ProcessFigures> old_figures = figures_in(before, column.name);
  const std::vector<ProcessFigures> new_figures = figures_in(after, column.name);
  const std::size_t lost = without_number(after, column.name);
  Change change{.column = column};
  std::string why = why_vanished(row, side);
  if (new_figures.empty() && lost > 0)
    why = fmt::format("{} is NaN or infinite in {} of {} processes", column.name, lost, after.size());
  if (!why.empty()) {
    change.verdict = ChangeVerdict::vanished;
    change.reason = std::move(why);
    change.figures_before = medians_of(old_figures);
    change.before = median(change.figures_before);
    change.processes_before = old_figures.size();
    return change;
  }
  const Column* const other = column_in(after, column.name);
  const std::string difference = other ? text_of_difference(column, with_direction(*other, options)) : "";
  if (are_extreme(old_figures) || are_extreme(new_figures)) {
    invalidate(change, "figures beyond 1e100, or nearer to 0 than 1e-100, cannot be compared");
    return change;
  }
  if (new_figures.empty() || !difference.empty()) {
    invalidate(change, difference.empty() ? "the other side has no figure" : difference);
    return change;
  }
  const std::size_t fewest = std::min(old_figures.size(), new_figures.size());
  ChangeLimits limits = options.limits ? options.limits->limits_of(row.key, column, fewest) : ChangeLimits{};
  limits.threshold = column.threshold > 0 ? column.threshold : options.threshold;
  change = measure_change(column, old_figures, new_figures, limits);
  if (without_number(before, column.name) == 0) change.processes_without_number = lost;
  return change;
}

bool is_called(const Change& change) {
  return change.verdict == ChangeVerdict::worse || change.verdict == ChangeVerdict::better ||
         change.verdict == ChangeVerdict::changed;
}

}  // namespace

ComparedRow compare_row(const MatchedRow& row, std::size_t side, const ComparisonOptions& options) {
  ComparedRow compared{.key = row.key, .side = side, .changes = {}, .breakdown = breakdown_change(row, side)};
  compared.in_turn = row.measured(side) && measured_in_turn(row.sides.front(), row.sides[side]);
  const std::vector<Column> all = figures_of_row(row);
  const std::string work = row.measured(side) ? other_work(row, side, all) : "";
  for (const Column& column : chosen_figures(row, options)) {
    Change change = change_of(row, side, column, options);
    if (change.compares_figures() && column.kind == Kind::time) invalidate(change, work);
    compared.changes.push_back(std::move(change));
    // A row that vanished is one thing, not one a figure.
    if (compared.changes.back().verdict == ChangeVerdict::vanished) break;
  }
  return compared;
}

void doubt_called(const MatchedRow& row, SideKind sides, ComparedRow& compared) {
  const std::vector<Column> all = figures_of_row(row);
  for (Change& change : compared.changes) {
    if (!is_called(change) || change.exact || change.processes_without_number > 0) continue;
    invalidate(change, doubt_about(row, compared.side, change));
    if (!is_called(change)) continue;
    const std::string clock = explained_by_clock(row, compared.side, change, all);
    if (sides == SideKind::builds)
      invalidate(change, clock);
    else
      change.reason = clock;
  }
}

}  // namespace gpubench
