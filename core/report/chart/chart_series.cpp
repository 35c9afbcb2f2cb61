#include "core/report/chart/chart_series.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/report/chart/value_order.h"
#include "core/report/text/run_table.h"

namespace gpubench {
namespace {

// Whether no two rows of a series stand at the same x.
bool are_apart(std::string_view x, Rows rows, const Grouping& grouping) {
  std::set<std::pair<std::string, std::string>> places;
  return std::ranges::all_of(rows, [&](const Record* row) {
    return places.emplace(series_name(*row, grouping), to_text(row->get(x))).second;
  });
}

// If x is no axis but depends on one (as the number of parameters on a layer's width), points along that axis form one
// line instead of one series each. The axis is the last (fastest) one without which rows still differ in x.
void order_computed_x(const ChartSpec& spec, Rows rows, std::span<const ChartAxis> axes, Grouping& grouping) {
  if (std::ranges::find(axes, spec.x, &ChartAxis::name) != axes.end()) return;
  for (std::size_t i = grouping.others.size(); i-- > 0;) {
    Grouping fewer = grouping;
    fewer.order = fewer.others[i];
    fewer.others.erase(fewer.others.begin() + static_cast<std::ptrdiff_t>(i));
    if (!are_apart(spec.x, rows, fewer)) continue;
    grouping = std::move(fewer);
    return;
  }
}

}  // namespace

const Column& column_named(std::string_view name, std::string_view role, std::span<const Column> columns) {
  const auto found = std::ranges::find(columns, name, &Column::name);
  if (found != columns.end()) return *found;
  if (std::ranges::find(optional_columns(), name, &Column::name) != optional_columns().end()) {
    throw Error(fmt::format("no row has {}, for {}", name, role));
  }
  std::string known;
  for (const Column& column : columns) known += (known.empty() ? "" : ", ") + column.name;
  throw Error(fmt::format("no column '{}' for {}; columns are {}", name, role, known));
}

Grouping group_rows(const ChartSpec& spec, Rows all, Rows drawn, std::span<const ChartAxis> axes,
                    std::span<const Column> columns) {
  Grouping grouping;
  if (!spec.series.empty()) grouping.series = column_named(spec.series, "series", columns);
  for (const ChartAxis& axis : axes) {
    if (axis.name == spec.x || axis.name == spec.series || axis.name == spec.y || axis.name == spec.order) continue;
    if (varies(axis.name, all)) grouping.others.push_back(column_named(axis.name, "an axis", columns));
  }
  if (spec.order.empty() && !is_of_samples(spec.kind))
    order_computed_x(spec, drawn, axes, grouping);
  else if (!spec.order.empty() && spec.order != spec.x)
    grouping.order = column_named(spec.order, "order", columns);
  return grouping;
}

std::string series_name(const Record& row, const Grouping& grouping) {
  std::string name;
  if (grouping.series) {
    const Cell& cell = row.get(grouping.series->name);
    name = format_cell(cell, grouping.series->unit);
    // A number alone would not say which axis it belongs to.
    if (!std::holds_alternative<std::string>(cell)) name = heading_of(*grouping.series) + " " + name;
  }
  for (const Column& other : grouping.others) {
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", heading_of(other),
                        format_cell(row.get(other.name), other.unit));
  }
  return name;
}

SeriesSetting series_setting(const Record& row, const Grouping& grouping) {
  SeriesSetting setting;
  if (grouping.series) setting[grouping.series->name] = to_text(row.get(grouping.series->name));
  for (const Column& other : grouping.others) setting[other.name] = to_text(row.get(other.name));
  return setting;
}

bool varies(const std::string& column, Rows rows) {
  return std::ranges::any_of(rows, [&](const Record* row) { return row->get(column) != rows.front()->get(column); });
}

void sort_rows(std::vector<const Record*>& rows, const Grouping& grouping, std::span<const ChartAxis> axes) {
  std::ranges::stable_sort(rows, {}, [](const Record* row) { return number_in(row->get("point")).value_or(0); });
  std::vector<Column> columns = grouping.others;
  if (grouping.series) columns.insert(columns.begin(), *grouping.series);
  if (grouping.order) columns.push_back(*grouping.order);
  for (std::size_t i = columns.size(); i-- > 0;) {  // each sort keeps the order of the one before it
    const ValueOrder order(columns[i].name, rows, axes);
    std::ranges::stable_sort(rows, {}, [&](const Record* row) { return order.of(row->get(columns[i].name)); });
  }
}

}  // namespace gpubench
