#include "core/report/chart/comparison_charts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <string>

#include "core/report/text/comparison_lines.h"
#include "core/report/text/run_table.h"

namespace gpubench {
namespace {

// More names would not fit beside a chart on a page.
constexpr std::size_t most_changes = 40, most_rows_of_points = 20;
constexpr std::string_view name_column = "name", worse_column = "change for the worse (%)";

// Styles of plots/style.gp, from 0.
constexpr std::size_t blue_style = 0, orange_style = 1, green_style = 2, yellow_style = 4, grey_style = 6,
                      purple_style = 7;

std::size_t style_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::worse:
    case ChangeVerdict::vanished:
      return orange_style;
    case ChangeVerdict::better:
      return green_style;
    case ChangeVerdict::same:
      return grey_style;
    case ChangeVerdict::ambiguous:
      return yellow_style;
    case ChangeVerdict::invalid:
      return purple_style;
    case ChangeVerdict::changed:
      break;
  }
  return blue_style;
}

bool is_drawn(const PlacedChange& one) {
  return one.change->compares_figures() && one.change->before != 0 && std::isfinite(one.change->relative());
}

/// In per cent; above 0 is worse.
double to_worse(const Change& change, double ratio) {
  return (change.column.better == Better::higher ? -100 : 100) * (ratio - 1);
}

double worse_of(const PlacedChange& one) {
  return to_worse(*one.change, one.change->after / one.change->before);
}

/// What tells changes apart: experiment, axes, figure and side, each only where they differ.
class Names {
 public:
  Names(const Comparison& comparison, const std::vector<PlacedChange>& changes) : comparison_(comparison) {
    std::set<std::string> experiments, figures;
    for (const PlacedChange& one : changes) {
      experiments.insert(one.row->key.experiment);
      figures.insert(one.change->column.name);
      for (const auto& [axis, value] : one.row->key.axes) values_[axis].insert(value);
    }
    has_experiment_ = experiments.size() > 1;
    has_figure_ = figures.size() > 1;
  }

  std::string of(const PlacedChange& one) const {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
    if (has_experiment_) add(one.row->key.experiment);
    for (const auto& [axis, value] : one.row->key.axes)
      if (values_.at(axis).size() > 1) add(axis + "=" + value);
    if (one.row->key.number > 0) add(fmt::format("row {}", one.row->key.number + 1));
    if (has_figure_ || text.empty()) add(heading_of(one.change->column));
    if (comparison_.sides.size() > 2) add("of " + comparison_.sides[one.row->side].name);
    return text;
  }

 private:
  const Comparison& comparison_;
  bool has_experiment_ = false, has_figure_ = false;
  std::map<std::string, std::set<std::string>> values_;
};

Column worse_figure() {
  return {.name = std::string(worse_column), .kind = Kind::time};
}

/// A chart of records that have a name and a figure, in their order.
Chart interval_chart(const std::string& title, const std::string& name, const std::string& series,
                     std::vector<Record> records, std::vector<Cell> series_values) {
  const std::vector<Column> columns{{.name = "point", .kind = Kind::setting},
                                    {.name = std::string(name_column), .kind = Kind::text},
                                    {.name = series, .kind = Kind::text},
                                    worse_figure()};
  std::vector<Cell> names;
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].set("point", static_cast<std::int64_t>(i + 1));
    names.push_back(records[i].get(name_column));
  }
  const std::vector<ChartAxis> axes{{std::string(name_column), std::move(names)}, {series, std::move(series_values)}};
  return make_chart({.kind = ChartKind::interval,
                     .name = name,
                     .title = title,
                     .x = std::string(name_column),
                     .y = std::string(worse_column),
                     .series = series,
                     .limits = {0}},
                    columns, records, axes);
}

Record change_record(const PlacedChange& one, const std::string& name) {
  Record record{{std::string(name_column), name}, {"verdict", verdict_of(one)}};
  record.set(worse_column, worse_of(one));
  if (!one.change->log_ratio) return record;
  const auto& [low, high] = one.change->log_ratio->interval;
  if (!std::isfinite(low) || !std::isfinite(high)) return record;
  const auto [least, most] = std::minmax({to_worse(*one.change, std::exp(low)), to_worse(*one.change, std::exp(high))});
  record.set(interval_end(worse_figure(), "low"), least);
  record.set(interval_end(worse_figure(), "high"), most);
  return record;
}

Chart chart_of_changes(std::vector<PlacedChange> changes, const Names& names) {
  // What was called different stays; of the rest, what changed most.
  std::ranges::stable_sort(changes, [](const PlacedChange& a, const PlacedChange& b) {
    const bool left = a.change->verdict <= ChangeVerdict::changed, right = b.change->verdict <= ChangeVerdict::changed;
    return left != right ? left : std::abs(worse_of(a)) > std::abs(worse_of(b));
  });
  const std::size_t all = changes.size();
  if (changes.size() > most_changes) changes.resize(most_changes);
  std::ranges::stable_sort(changes, std::ranges::greater(), worse_of);
  std::vector<Record> records;
  std::vector<Cell> verdicts;
  for (const PlacedChange& one : changes) records.push_back(change_record(one, names.of(one)));
  Chart chart = interval_chart(
      all > changes.size() ? fmt::format("The largest {} of {} changes", changes.size(), all) : "Changes", "changes",
      "verdict", std::move(records), std::move(verdicts));
  for (ChartSeries& series : chart.series) {
    for (const PlacedChange& one : changes)
      if (verdict_of(one) == series.name) series.style = style_of(one.change->verdict);
  }
  return chart;
}

void add_processes(const PlacedChange& one, const std::string& name, const std::string& side,
                   const std::vector<double>& figures, std::vector<Record>& records) {
  for (const double figure : figures) {
    records.push_back({{std::string(name_column), name}, {"side", side}});
    records.back().set(worse_column, to_worse(*one.change, figure / one.change->before));
  }
}

Chart chart_of_processes(const Comparison& comparison, std::vector<PlacedChange> changes, const Names& names) {
  std::ranges::stable_sort(changes, std::ranges::greater(), worse_of);
  if (changes.size() > most_rows_of_points) changes.resize(most_rows_of_points);
  std::vector<Record> records;
  for (const PlacedChange& one : changes) {
    add_processes(one, names.of(one), comparison.sides.front().name, one.change->figures_before, records);
    add_processes(one, names.of(one), comparison.sides[one.row->side].name, one.change->figures_after, records);
  }
  std::vector<Cell> sides;
  for (const ComparedSide& side : comparison.sides) sides.emplace_back(side.name);
  Chart chart = interval_chart("Processes, a point each", "processes", "side", std::move(records), sides);
  for (std::size_t i = 0; i < chart.series.size(); ++i) chart.series[i].style = i;
  return chart;
}

}  // namespace

std::vector<Chart> comparison_charts(const Comparison& comparison) {
  std::vector<PlacedChange> drawn = all_changes(comparison);
  std::erase_if(drawn, [](const PlacedChange& one) { return !is_drawn(one); });
  if (drawn.empty()) return {};
  const Names names(comparison, drawn);
  std::vector<Chart> charts{chart_of_changes(drawn, names)};
  const bool any_worse =
      std::ranges::any_of(drawn, [](const PlacedChange& one) { return one.change->verdict == ChangeVerdict::worse; });
  std::erase_if(drawn, [&](const PlacedChange& one) {
    const ChangeVerdict verdict = one.change->verdict;
    return any_worse ? verdict != ChangeVerdict::worse : verdict > ChangeVerdict::changed;
  });
  if (!drawn.empty()) charts.push_back(chart_of_processes(comparison, drawn, names));
  return charts;
}

}  // namespace gpubench
