#include "core/report/chart.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <utility>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/report/run_table.h"
#include "core/report/scale.h"

namespace gpubench {
namespace {

const Column& column_named(std::string_view name, std::string_view role, std::span<const Column> columns) {
  const auto found = std::ranges::find(columns, name, &Column::name);
  if (found != columns.end()) return *found;
  std::string known;
  for (const Column& column : columns) known += (known.empty() ? "" : ", ") + column.name;
  throw Error(fmt::format("no column '{}' for {}; columns are {}", name, role, known));
}

void check_base(double base, std::string_view option) {
  if (base == 0 || base > 1) return;
  throw Error(fmt::format("{} is {}; the base of a logarithmic axis must be above 1", option, base));
}

std::optional<double> finite_number(const Cell& cell) {
  const auto number = number_in(cell);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

bool is_drawn(const Record& record, const ChartSpec& spec) {
  const Cell& status = record.get("status");
  const bool sound = is_empty(status) || status == Cell(std::string("ok"));
  return sound && record.has(spec.x) && finite_number(record.get(spec.y));
}

bool is_meant(const Record& record, const Record& where) {
  return std::ranges::all_of(where.cells(), [&](const auto& cell) { return record.get(cell.first) == cell.second; });
}

std::string where_text(const Record& where) {
  std::string text;
  for (const auto& [column, value] : where.cells()) {
    text += fmt::format("{}{}={}", text.empty() ? " with " : " ", column, to_text(value));
  }
  return text;
}

std::optional<Interval> interval_of(const Record& record, const Column& y) {
  const auto low = finite_number(record.get(interval_end(y, "low")));
  const auto high = finite_number(record.get(interval_end(y, "high")));
  if (!low || !high) return std::nullopt;
  return Interval{*low, *high};
}

bool varies(const std::string& column, std::span<const Record* const> rows) {
  return std::ranges::any_of(rows, [&](const Record* row) { return row->get(column) != rows.front()->get(column); });
}

// Axes that vary and are neither x nor the series. They distinguish series too.
std::vector<Column> other_axes(const ChartSpec& spec, std::span<const Record* const> rows,
                               std::span<const std::string> axes, std::span<const Column> columns) {
  std::vector<Column> others;
  for (const std::string& axis : axes) {
    if (axis == spec.x || axis == spec.series || axis == spec.y) continue;
    if (varies(axis, rows)) others.push_back(column_named(axis, "an axis", columns));
  }
  return others;
}

std::string series_name(const Record& row, const std::optional<Column>& series, const std::vector<Column>& others) {
  std::string name;
  if (series) {
    const Cell& cell = row.get(series->name);
    name = format_cell(cell, series->unit);
    // A number alone would not say which axis it belongs to.
    if (!std::holds_alternative<std::string>(cell)) name = heading_of(*series) + " " + name;
  }
  for (const Column& other : others) {
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", heading_of(other),
                        format_cell(row.get(other.name), other.unit));
  }
  return name;
}

// Whether no two rows of a series stand at the same x.
bool are_apart(std::string_view x, std::span<const Record* const> rows, const std::optional<Column>& series,
               const std::vector<Column>& others) {
  std::set<std::pair<std::string, std::string>> places;
  return std::ranges::all_of(rows, [&](const Record* row) {
    return places.emplace(series_name(*row, series, others), to_text(row->get(x))).second;
  });
}

// If x is no axis but depends on one (as the number of parameters on a layer's width), points along that axis form one
// line instead of one series each. The axis is the last (fastest) one without which rows still differ in x.
void drop_axis_of_computed_x(const ChartSpec& spec, std::span<const Record* const> rows,
                             std::span<const std::string> axes, const std::optional<Column>& series,
                             std::vector<Column>& others) {
  if (std::ranges::find(axes, spec.x) != axes.end()) return;
  for (std::size_t i = others.size(); i-- > 0;) {
    std::vector<Column> fewer = others;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (!are_apart(spec.x, rows, series, fewer)) continue;
    others = std::move(fewer);
    return;
  }
}

double position_of(const std::string& category, std::vector<std::string>& categories) {
  const auto found = std::ranges::find(categories, category);
  const auto index = found - categories.begin();
  if (found == categories.end()) categories.push_back(category);
  return static_cast<double>(index);
}

ChartSeries& series_named(const std::string& name, std::vector<ChartSeries>& all) {
  const auto found = std::ranges::find(all, name, &ChartSeries::name);
  if (found != all.end()) return *found;
  return all.emplace_back(ChartSeries{name, {}, {}});
}

bool is_unreliable(const Record& record, const Column& y) {
  const std::string quality = to_text(record.get(quality_column(y.kind)));
  return !quality.empty() && quality != "ok";
}

std::string reason_of(const Record& record) {
  std::string status = to_text(record.get("status"));
  if (status.empty() || status == "ok") return "not measured";
  std::ranges::replace(status, '_', ' ');
  return status;
}

// Points that were measured in vain, in series that have others.
void add_failed(const Record& row, const Column& x, const std::string& series, std::optional<double> factor,
                bool own_units, Chart& chart) {
  const std::string status = to_text(row.get("status"));
  const auto found = std::ranges::find(chart.series, series, &ChartSeries::name);
  if (status.empty() || status == "ok" || status == "skipped" || !row.has(x.name) || found == chart.series.end())
    return;
  const Cell& cell = row.get(x.name);
  const auto number = finite_number(cell);
  if (factor && !number) return;
  const double at = factor ? *number * *factor : position_of(format_cell(cell, x.unit), chart.categories);
  found->failed.push_back({at, reason_of(row), own_units ? format_cell(cell, x.unit) : std::string()});
}

// Of the rows that are not drawn: the series that have no other row.
std::vector<AbsentSeries> absent_series(std::span<const Record* const> missing, const std::optional<Column>& series,
                                        const std::vector<Column>& others, const std::vector<ChartSeries>& drawn) {
  std::vector<AbsentSeries> absent;
  for (const Record* row : missing) {
    if (series && !row->has(series->name)) continue;  // it failed before it had one
    const std::string name = series_name(*row, series, others);
    if (std::ranges::find(drawn, name, &ChartSeries::name) != drawn.end()) continue;
    const std::string reason = reason_of(*row);
    const auto found = std::ranges::find(absent, name, &AbsentSeries::name);
    if (found == absent.end()) {
      absent.push_back({name, reason});
    } else if (found->reason.find(reason) == std::string::npos) {
      found->reason += ", " + reason;
    }
  }
  return absent;
}

AxisScale scale_of(const Column& column, std::span<const Record* const> rows) {
  double largest = 0;
  for (const Record* row : rows) largest = std::max(largest, std::abs(*number_in(row->get(column.name))));
  return axis_scale(column, largest);
}

/// Whether a logarithmic x axis needs a unit for each tick: with one unit small values read as 0.00391 MiB.
bool spans_units(const ChartSpec& spec, const Column& x, std::span<const Record* const> rows) {
  constexpr double next_unit = 1000;
  if (spec.log_x == 0 || x.unit == Unit::none) return false;
  double least = std::numeric_limits<double>::max(), most = 0;
  for (const Record* row : rows) {
    const double value = *number_in(row->get(x.name));
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return least > 0 && most >= next_unit * least;
}

void fill_defaults(ChartSpec& spec, const Column& x, const Column& y) {
  if (spec.name.empty()) spec.name = fmt::format("{}_by_{}", y.name, x.name);
  if (!spec.title.empty()) return;
  spec.title = fmt::format("{} by {}", heading_of(y), heading_of(x));
  std::string filter;
  for (const auto& [name, cell] : spec.where.cells()) {
    const Column column = column_of(name);
    filter += fmt::format("{}{} {}", filter.empty() ? "" : ", ", heading_of(column), format_cell(cell, column.unit));
  }
  if (!filter.empty()) spec.title += " (" + filter + ")";
}

}  // namespace

ChartKind parse_chart_kind(std::string_view name) {
  constexpr EnumNames<ChartKind, 2> names{"unknown chart", {"line", "bar"}};
  return names.parse(name);
}

Chart make_chart(ChartSpec spec, std::span<const Column> columns, std::span<const Record> records,
                 std::span<const std::string> axes) {
  check_base(spec.log_x, "log_x");
  check_base(spec.log_y, "log_y");
  if (spec.kind == ChartKind::bar && (spec.log_x != 0 || spec.log_y != 0)) {
    throw Error("bars stand on zero, which a logarithmic axis does not have; use a line chart");
  }
  const Column& x = column_named(spec.x, "x", columns);
  const Column& y = column_named(spec.y, "y", columns);
  std::optional<Column> series;
  if (!spec.series.empty()) series = column_named(spec.series, "series", columns);
  for (const auto& [column, value] : spec.where.cells()) column_named(column, "where", columns);

  std::vector<const Record*> all, rows, missing;
  for (const Record& record : records) {
    if (!is_meant(record, spec.where)) continue;
    all.push_back(&record);
    (is_drawn(record, spec) ? rows : missing).push_back(&record);
  }
  if (rows.empty()) throw Error(fmt::format("no row{} has both {} and {}", where_text(spec.where), spec.x, spec.y));

  fill_defaults(spec, x, y);
  Chart chart{.spec = std::move(spec), .x_label = heading_of(x), .y_label = {}, .categories = {}, .series = {}};
  const bool numeric_x = chart.spec.kind == ChartKind::line && std::ranges::all_of(rows, [&](const Record* row) {
                           return finite_number(row->get(x.name)).has_value();
                         });
  const AxisScale scale = scale_of(y, rows);
  chart.y_label = scale.label;
  // A setting keeps its value as it was set; a measured x is scaled like y.
  const bool own_units = numeric_x && spans_units(chart.spec, x, rows);
  const AxisScale x_scale =
      numeric_x && x.unit != Unit::none && !own_units ? scale_of(x, rows) : AxisScale{1, heading_of(x)};
  chart.x_label = x_scale.label;

  std::vector<Column> others = other_axes(chart.spec, all, axes, columns);
  drop_axis_of_computed_x(chart.spec, rows, axes, series, others);
  for (const Record* row : rows) {
    ChartPoint point;
    const Cell& cell = row->get(x.name);
    point.x = numeric_x ? *number_in(cell) * x_scale.factor : position_of(format_cell(cell, x.unit), chart.categories);
    if (own_units) point.x_text = format_cell(cell, x.unit);
    point.y = *number_in(row->get(y.name)) * scale.factor;
    if (const auto interval = interval_of(*row, y)) {
      point.interval = {interval->low * scale.factor, interval->high * scale.factor};
    }
    point.unreliable = is_unreliable(*row, y);
    series_named(series_name(*row, series, others), chart.series).points.push_back(point);
  }
  for (const Record* row : missing) {
    add_failed(*row, x, series_name(*row, series, others),
               numeric_x ? std::optional<double>(x_scale.factor) : std::nullopt, own_units, chart);
  }
  for (ChartSeries& one : chart.series) std::ranges::stable_sort(one.points, {}, &ChartPoint::x);
  chart.absent = absent_series(missing, series, others, chart.series);
  return chart;
}

}  // namespace gpubench
