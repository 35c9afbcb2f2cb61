#include "core/report/chart/chart.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <utility>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/report/chart/chart_series.h"
#include "core/report/chart/scale.h"
#include "core/report/chart/value_order.h"
#include "core/report/text/run_table.h"

namespace gpubench {
namespace {

constexpr EnumNames<ChartKind, 6> kind_names{"unknown chart",
                                             {"line", "bar", "heat", "distribution", "course", "interval"}};

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

// What the script skipped has no place.
std::vector<std::string> categories_of(const Column& x, std::vector<const Record*> rows,
                                       std::span<const ChartAxis> axes) {
  std::erase_if(rows, [&](const Record* row) { return !row->has(x.name) || is_skipped(*row); });
  std::ranges::stable_sort(rows, {}, [](const Record* row) { return number_in(row->get("point")).value_or(0); });
  const ValueOrder order(x.name, rows, axes);
  std::ranges::stable_sort(rows, {}, [&](const Record* row) { return order.of(row->get(x.name)); });
  std::vector<std::string> categories;
  for (const Record* row : rows) {
    std::string text = format_cell(row->get(x.name), x.unit);
    if (std::ranges::find(categories, text) == categories.end()) categories.push_back(std::move(text));
  }
  return categories;
}

ChartSeries& series_of(const Record& row, const Grouping& grouping, std::vector<ChartSeries>& all) {
  const std::string name = series_name(row, grouping);
  const auto found = std::ranges::find(all, name, &ChartSeries::name);
  if (found != all.end()) return *found;
  return all.emplace_back(ChartSeries{.name = name, .points = {}, .setting = series_setting(row, grouping)});
}

bool is_unreliable(const Record& record, const Column& y) {
  const std::string quality = to_text(record.get(quality_column(y.kind)));
  return !quality.empty() && quality != "ok";
}

std::string reason_of(const Record& record, const Column& y) {
  std::string status = to_text(record.get("status"));
  if (status.empty() || status == "ok") return "no " + heading_of(y);
  std::ranges::replace(status, '_', ' ');
  return status;
}

// Of the rows that are not drawn: the series that have no other row.
std::vector<AbsentSeries> absent_series(Rows missing, const Column& y, const Grouping& grouping,
                                        const std::vector<ChartSeries>& drawn) {
  std::vector<AbsentSeries> absent;
  for (const Record* row : missing) {
    if (grouping.series && !row->has(grouping.series->name)) continue;  // it failed before it had one
    const std::string name = series_name(*row, grouping);
    if (std::ranges::find(drawn, name, &ChartSeries::name) != drawn.end()) continue;
    const std::string reason = reason_of(*row, y);
    const auto found = std::ranges::find(absent, name, &AbsentSeries::name);
    if (found == absent.end()) {
      absent.push_back({name, reason, series_setting(*row, grouping)});
    } else if (found->reason.find(reason) == std::string::npos) {
      found->reason += ", " + reason;
    }
  }
  return absent;
}

AxisScale scale_of(const Column& column, Rows rows) {
  double largest = 0;
  for (const Record* row : rows) largest = std::max(largest, std::abs(*number_in(row->get(column.name))));
  return axis_scale(column, largest);
}

/// Whether a logarithmic x axis needs a unit for each tick: with one unit small values read as 0.00391 MiB.
bool spans_units(const ChartSpec& spec, const Column& x, Rows rows) {
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

// The place of a row on the axis of x.
class Places {
 public:
  Places(const Column& x, const ChartSpec& spec, Rows all, Rows drawn, std::span<const ChartAxis> axes) : x_(x) {
    const bool has_categories = spec.kind == ChartKind::bar || spec.kind == ChartKind::heat;
    numeric_ = !has_categories && std::ranges::all_of(drawn, [&](const Record* row) {
      return finite_number(row->get(x.name)).has_value();
    });
    own_units_ = numeric_ && !is_of_samples(spec.kind) && spans_units(spec, x, drawn);
    // A setting keeps its value as it was set; a measured x is scaled like y.
    scale_ = numeric_ && x.unit != Unit::none && !own_units_ ? scale_of(x, drawn) : AxisScale{1, quantity_of(x)};
    if (!numeric_) categories_ = categories_of(x, {all.begin(), all.end()}, axes);
  }

  bool numeric() const { return numeric_; }
  const std::string& label() const { return scale_.label; }
  const std::vector<std::string>& categories() const { return categories_; }
  std::optional<double> of(const Cell& cell) const {
    if (numeric_) {
      const auto number = finite_number(cell);
      return number ? std::optional<double>(*number * scale_.factor) : std::nullopt;
    }
    const auto found = std::ranges::find(categories_, format_cell(cell, x_.unit));
    if (found == categories_.end()) return std::nullopt;
    return static_cast<double>(found - categories_.begin());
  }
  std::string text_of(const Cell& cell) const { return own_units_ ? format_cell(cell, x_.unit) : std::string(); }

 private:
  Column x_;
  bool numeric_ = false, own_units_ = false;
  AxisScale scale_;
  std::vector<std::string> categories_;
};

// A percentile of few queries, for example, is empty in a sound row.
void count_without_figure(const Record& row, const Column& y, Chart& chart) {
  const std::string figure = heading_of(y),
                    reason = y.description.empty() ? to_text(row.get("detail")) : std::string(y.description);
  const auto same = std::ranges::find(chart.without_figure, reason, &PointsWithoutFigure::reason);
  if (same == chart.without_figure.end())
    chart.without_figure.push_back({1, figure, reason});
  else
    ++same->points;
}

// Points without a figure, in series that have others. What the script skipped was not to be measured.
void add_failed(Rows missing, const Column& x, const Column& y, const Grouping& grouping, const Places& places,
                Chart& chart) {
  for (const Record* row : missing) {
    const std::string status = to_text(row->get("status"));
    const Cell& cell = row->get(x.name);
    const auto found = std::ranges::find(chart.series, series_name(*row, grouping), &ChartSeries::name);
    const auto at = places.of(cell);
    if (is_skipped(*row) || is_empty(cell) || !at || found == chart.series.end()) continue;
    const bool has_figure = is_drawn(*row, chart.spec);  // one that a logarithmic axis does not have
    if (!has_figure && (status.empty() || status == "ok")) {
      count_without_figure(*row, y, chart);
      continue;
    }
    found->failed.push_back(
        {*at, has_figure ? format_cell(row->get(y.name), y.unit) : reason_of(*row, y), places.text_of(cell)});
  }
}

Interval union_of(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// Of the rows of all charts that share the scale. Of intervals that dwarf the figures, a linear axis shows a part.
Interval range_of(const Column& y, Rows rows, const AxisScale& scale, const ChartSpec& spec,
                  const std::vector<double>& limits) {
  constexpr double most_over_figures = 2;
  std::optional<Interval> figures, intervals;
  const auto add = [](std::optional<Interval>& range, const Interval& one) {
    range = range ? union_of(*range, one) : one;
  };
  for (const Record* row : rows) {
    const double value = *number_in(row->get(y.name)) * scale.factor;
    add(figures, {value, value});
    if (const auto interval = interval_of(*row, y))
      add(intervals, {interval->low * scale.factor, interval->high * scale.factor});
  }
  for (const double limit : limits) add(figures, {limit, limit});
  Interval range = union_of(*figures, intervals.value_or(*figures));
  const double most = most_over_figures * figures->high;
  if (spec.log_y == 0 && figures->low >= 0 && most > 0) range.high = std::min(range.high, most);
  return range;
}

void add_points(Rows rows, const Column& y, const AxisScale& scale, const Grouping& grouping, const Places& places,
                Chart& chart) {
  const std::string& x = chart.spec.x;
  const bool labelled = grouping.order && places.numeric() && varies(grouping.order->name, rows);
  for (const Record* row : rows) {
    ChartPoint point;
    point.x = *places.of(row->get(x));
    point.x_text = places.text_of(row->get(x));
    point.y = *number_in(row->get(y.name)) * scale.factor;
    if (const auto interval = interval_of(*row, y))
      point.interval = {interval->low * scale.factor, interval->high * scale.factor};
    point.unreliable = is_unreliable(*row, y);
    point.verdict = to_text(row->get("verdict"));
    if (labelled) point.label = format_cell(row->get(grouping.order->name), grouping.order->unit);
    series_of(*row, grouping, chart.series).points.push_back(std::move(point));
  }
  if (labelled) chart.at_points = fmt::format("; at the points: {}", heading_of(*grouping.order));
  if (!grouping.order) {
    for (ChartSeries& one : chart.series) std::ranges::stable_sort(one.points, {}, &ChartPoint::x);
  }
  const auto is_single = [](const ChartSeries& one) { return one.points.size() == 1 && one.points[0].label.empty(); };
  chart.is_scatter = places.numeric() && chart.series.size() > 1 && std::ranges::all_of(chart.series, is_single);
  if (!chart.is_scatter) return;
  for (ChartSeries& one : chart.series) one.points[0].label = one.name;
}

std::string title_of(const ChartSpec& spec, const Column& x, const Column& y) {
  switch (spec.kind) {
    case ChartKind::heat:
      return fmt::format("{} by {} and {}", quantity_of(y), quantity_of(x), heading_of(column_of(spec.series)));
    case ChartKind::distribution:
      return "distribution of the " + quantity_of(x);
    case ChartKind::course:
      return quantity_of(y) + ", one after the other";
    case ChartKind::line:
    case ChartKind::bar:
    case ChartKind::interval:
      break;
  }
  return fmt::format("{} by {}", quantity_of(y), quantity_of(x));
}

void fill_defaults(ChartSpec& spec, const Column& x, const Column& y) {
  if (spec.name.empty()) spec.name = fmt::format("{}_by_{}", y.name, x.name);
  if (!spec.title.empty()) return;
  spec.title = title_of(spec, x, y);
  std::string filter;
  for (const auto& [name, cell] : spec.where.cells()) {
    const Column column = column_of(name);
    filter += fmt::format("{}{} {}", filter.empty() ? "" : ", ", heading_of(column), format_cell(cell, column.unit));
  }
  if (!filter.empty()) spec.title += " (" + filter + ")";
}

/// Says in the title that figures were calculated for an accelerator that is not there.
void mark_emulated(ChartSpec& spec, std::span<const Record* const> rows) {
  const auto emulated = std::ranges::count_if(rows, [](const Record* row) { return row->has("emulation"); });
  if (emulated == 0 || spec.title.ends_with("emulated)")) return;
  spec.title += emulated == std::ssize(rows) ? " (emulated)" : " (partly emulated)";
}

}  // namespace

ChartKind parse_chart_kind(std::string_view name) {
  return kind_names.parse(name);
}

std::string_view to_string(ChartKind kind) {
  return kind_names[kind];
}

bool is_of_samples(ChartKind kind) {
  return kind == ChartKind::distribution || kind == ChartKind::course;
}

Chart make_chart(ChartSpec spec, std::span<const Column> columns, std::span<const Record> records,
                 std::span<const ChartAxis> axes) {
  check_base(spec.log_x, "log_x");
  check_base(spec.log_y, "log_y");
  if (spec.kind == ChartKind::bar && (spec.log_x != 0 || spec.log_y != 0)) {
    throw Error("bars stand on zero, which a logarithmic axis does not have; use a line chart");
  }
  if (spec.kind == ChartKind::heat && (spec.series.empty() || spec.log_x != 0)) {
    throw Error(spec.series.empty() ? "a heat map needs 'series', the column whose values are its rows"
                                    : "the columns of a heat map are values side by side; only log_y shades its cells");
  }
  const Column& x = column_named(spec.x, "x", columns);
  const Column& y = column_named(spec.y, "y", columns);
  for (const auto& [column, value] : spec.where.cells()) column_named(column, "where", columns);
  Record where_of_all;
  for (const auto& [column, value] : spec.where.cells())
    if (column != spec.each) where_of_all.set(column, value);

  // `scaled` are the rows of this chart and of those that share its scale.
  std::vector<const Record*> all, rows, missing, scaled;
  for (const Record& record : records) {
    const bool drawn = is_drawn(record, spec) && (spec.log_y == 0 || *number_in(record.get(spec.y)) > 0);
    if (drawn && is_meant(record, where_of_all)) scaled.push_back(&record);
    if (!is_meant(record, spec.where)) continue;
    all.push_back(&record);
    (drawn ? rows : missing).push_back(&record);
  }
  if (rows.empty()) {
    const bool below = std::ranges::any_of(missing, [&](const Record* row) { return is_drawn(*row, spec); });
    throw Error(below ? fmt::format("no {} is above zero, as log_y needs it", spec.y)
                      : fmt::format("no row{} has both {} and {}", where_text(spec.where), spec.x, spec.y));
  }
  const bool has_zero =
      std::ranges::any_of(rows, [&](const Record* row) { return number_in(row->get(spec.x)).value_or(1) <= 0; });
  if (has_zero) spec.log_x = 0;

  fill_defaults(spec, x, y);
  mark_emulated(spec, rows);
  const Grouping grouping = group_rows(spec, all, rows, axes, columns);
  for (std::vector<const Record*>* some : {&rows, &missing}) sort_rows(*some, grouping, axes);
  const Places places(x, spec, all, rows, axes);
  const AxisScale scale = scale_of(y, scaled);
  Chart chart{.spec = std::move(spec),
              .x_label = places.label(),
              .y_label = scale.label,
              .categories = places.categories(),
              .series = {}};
  for (const double limit : chart.spec.limits) chart.limits.push_back(limit * scale.factor);
  std::vector<ChartMark> marks = chart.spec.marks;
  for (const Cell& knee : chart.spec.knees) marks.push_back({knee, "knee"});
  for (const ChartMark& mark : marks)
    if (const auto at = places.of(mark.x)) chart.marks.push_back({*at, mark.name});
  chart.y_range = range_of(y, scaled, scale, chart.spec, chart.limits);
  add_points(rows, y, scale, grouping, places, chart);
  add_failed(missing, x, y, grouping, places, chart);
  chart.absent = absent_series(missing, y, grouping, chart.series);
  return chart;
}

void assign_styles(std::span<Chart> charts) {
  // By the columns that tell series apart; the place of a setting is its style.
  std::map<std::vector<std::string>, std::vector<SeriesSetting>> settings;
  const auto style_of = [&](const SeriesSetting& setting) {
    std::vector<std::string> columns;
    for (const auto& [column, value] : setting) columns.push_back(column);
    std::vector<SeriesSetting>& all = settings[columns];
    const auto found = std::ranges::find(all, setting);
    const auto place = static_cast<std::size_t>(found - all.begin());
    if (found == all.end()) all.push_back(setting);
    return place;
  };
  for (Chart& chart : charts) {
    for (ChartSeries& one : chart.series) one.style = style_of(one.setting);
    // It has a point in another chart perhaps.
    for (const AbsentSeries& one : chart.absent) style_of(one.setting);
  }
  // The only line of a chart is that of the value which `where` chose, if other charts have this line.
  for (Chart& chart : charts) {
    if (chart.series.size() != 1 || !chart.series[0].setting.empty()) continue;
    for (const auto& [column, cell] : chart.spec.where.cells())
      if (settings.contains({column})) chart.series[0].style = style_of({{column, to_text(cell)}});
  }
}

}  // namespace gpubench
