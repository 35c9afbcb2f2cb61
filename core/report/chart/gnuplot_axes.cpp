#include "core/report/chart/gnuplot_axes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <vector>

#include "core/base/units.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

constexpr double longest_plain_number = 1e6;
// A linear axis starts at zero unless all values lie in the upper part of it.
constexpr double start_at_zero_below = 0.6;
// Share of the data's width or height, on each side.
constexpr double x_margin = 0.03, y_margin = 0.06;
// Longest label of a category, and characters that the x axis has for labels side by side.
constexpr std::size_t tick_width = 24;
constexpr std::size_t ticks_width = 52;
constexpr double most_ticks = 10;
// Longest name beside a chart of intervals.
constexpr std::size_t name_width = 30;
// Of more values the ticks of a logarithmic axis stand at round numbers.
constexpr std::size_t most_own_values = 40;

// gnuplot takes labels of ticks for formats, in which a percent sign must be doubled.
std::string quote_tick(const std::string& label) {
  std::string text;
  for (const char c : label) text += c == '%' ? "%%" : std::string(1, c);
  return quote_gnuplot(text);
}

std::string tick_text(const std::string& label) {
  return quote_tick(shorten(one_line(label), tick_width));
}

std::string category_ticks(const Chart& chart) {
  std::vector<std::string> ticks;
  // Hundreds of names would cover each other.
  const std::size_t step = 1 + chart.categories.size() / ticks_width;
  for (std::size_t i = 0; i < chart.categories.size(); i += step)
    ticks.push_back(fmt::format("{} {}", tick_text(chart.categories[i]), i));
  return fmt::format("set xtics ({}){}\n", fmt::join(ticks, ", "), is_crowded(chart) ? " rotate by -30" : "");
}

// Values of x with their own names, where they have some.
std::map<double, std::string> values_of(const Chart& chart) {
  std::map<double, std::string> values;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) values.emplace(point.x, point.x_text);
    for (const FailedPoint& point : series.failed) values.emplace(point.x, point.x_text);
  }
  return values;
}

// Ticks at the measured values rather than at powers between them, as many as fit.
std::string own_ticks(const std::map<double, std::string>& values, const AxisRange& range) {
  std::vector<std::string> ticks;
  double free_from = -1;
  for (const auto& [value, own_text] : values) {
    const std::string text = own_text.empty() ? number_text(value) : own_text;
    const double middle = range.share_of(value) * static_cast<double>(ticks_width);
    const double half = 0.5 * static_cast<double>(display_width(text));
    if (!ticks.empty() && middle - half < free_from) continue;
    ticks.push_back(fmt::format("{} {:.10g}", tick_text(text), value));
    free_from = middle + half + 1;
  }
  return fmt::format("set xtics ({})\n", fmt::join(ticks, ", "));
}

// Over many decades the powers of ten; over few also 2 and 5 times these, and over about one some between.
std::vector<double> decimal_ticks(const AxisRange& range) {
  const double decades = std::log10(range.high / range.low);
  const double step = std::max(1.0, std::ceil(decades / most_ticks));
  const std::vector<double> digits = decades < 0.7   ? std::vector<double>{1, 1.5, 2, 3, 5, 7}
                                     : decades < 1.3 ? std::vector<double>{1, 2, 3, 5, 7}
                                     : decades < 3   ? std::vector<double>{1, 2, 5}
                                                     : std::vector<double>{1};
  std::vector<double> ticks;
  for (double power = std::floor(std::log10(range.low)); power <= std::log10(range.high); power += step) {
    for (const double digit : digits) {
      const double value = digit * std::pow(10, power);
      if (value >= range.low && value <= range.high) ticks.push_back(value);
    }
  }
  return ticks;
}

std::string decimal_x_ticks(const AxisRange& range) {
  std::vector<std::string> ticks;
  for (const double value : decimal_ticks(range))
    ticks.push_back(fmt::format("{} {:.10g}", quote_gnuplot(number_text(value)), value));
  return fmt::format("set xtics ({})\n", fmt::join(ticks, ", "));
}

// At equal distances, where a logarithmic axis covers too little for a scale of its own.
std::vector<double> even_ticks(const AxisRange& range) {
  constexpr double intervals = 4;
  const double least = (range.high - range.low) / intervals;
  double step = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (factor * step < least) continue;
    step *= factor;
    break;
  }
  std::vector<double> ticks;
  const double first = std::ceil(range.low / step), last = std::floor(range.high / step);
  for (double k = 0; k <= intervals && first + k <= last; ++k) ticks.push_back(first + k == 0 ? 0 : step * (first + k));
  return ticks;
}

std::vector<double> powers_of(double base, const AxisRange& range) {
  std::vector<double> ticks;
  const double count = std::log(range.high / range.low) / std::log(base);
  const double step = std::max(1.0, std::ceil(count / most_ticks));
  for (double power = std::ceil(std::log(range.low) / std::log(base)); std::pow(base, power) <= range.high;
       power += step)
    ticks.push_back(std::pow(base, power));
  return ticks;
}

/// Cells may be as large as a number can be: beyond these ends nothing could be added to an axis.
AxisRange drawable(const AxisRange& range) {
  constexpr double least = 1e-300, most = 1e300;
  AxisRange ends = range;
  const auto fitted = [&](double value) { return std::clamp(value, range.is_logarithmic ? least : -most, most); };
  ends.low = fitted(range.low);
  ends.high = fitted(range.high);
  if (ends.low < ends.high) return ends;
  return {range.is_logarithmic ? least : -most, most, range.is_logarithmic};
}

std::string y_ticks(const Chart& chart, const AxisRange& range) {
  std::vector<double> values = chart.spec.log_y == 10 ? decimal_ticks(range) : powers_of(chart.spec.log_y, range);
  if (values.size() < 2) values = decimal_ticks(range);
  if (values.size() < 2) values = even_ticks(range);
  std::vector<std::string> ticks;
  for (const double value : values)
    ticks.push_back(fmt::format("{} {:.10g}", quote_gnuplot(number_text(value)), value));
  return fmt::format("set ytics ({})\n", fmt::join(ticks, ", "));
}

}  // namespace

double AxisRange::share_of(double value) const {
  if (is_logarithmic) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

bool is_crowded(const Chart& chart) {
  if (chart.spec.kind == ChartKind::interval) return false;
  std::size_t longest = 0;
  for (const std::string& category : chart.categories)
    longest = std::max(longest, display_width(shorten(one_line(category), tick_width)));
  return (longest + 1) * chart.categories.size() > ticks_width;
}

std::string number_text(double value) {
  if (std::abs(value) >= longest_plain_number) return format_si(value);
  constexpr double three_digits = 1000;
  return value == std::round(value) || std::abs(value) >= three_digits ? fmt::format("{:.0f}", value)
                                                                       : fmt::format("{:.3g}", value);
}

// The axis ends a little beyond the data, so that points and ticks at its ends are not cut off.
AxisRange x_range(const Chart& chart) {
  if (!chart.categories.empty()) return {-0.6, static_cast<double>(chart.categories.size()) - 0.4};
  const auto values = values_of(chart);
  const double first = values.begin()->first, last = values.rbegin()->first;
  if (chart.spec.log_x != 0) {
    const double factor = first == last ? chart.spec.log_x : std::pow(last / first, x_margin);
    return drawable({first / factor, last * factor, true});
  }
  const double margin = x_margin * (last - first);
  // A single value has no width.
  return drawable(margin > 0 ? AxisRange{first - margin, last + margin} : AxisRange{first - 1, first + 1});
}

AxisRange y_range(const Chart& chart) {
  auto [least, most] = chart.y_range;
  if (chart.spec.log_y != 0) {
    // An interval may reach zero, which the axis does not: it ends where the figures do.
    if (least <= 0) {
      least = most;
      for (const ChartSeries& series : chart.series)
        for (const ChartPoint& point : series.points) least = std::min(least, point.y);
    }
    const double factor = least < most ? std::max(std::pow(most / least, y_margin), 1.02) : 2;
    return drawable({least / factor, most * factor, true});
  }
  const bool from_zero = least >= 0 && (chart.spec.kind == ChartKind::bar || least < start_at_zero_below * most);
  if (from_zero) return drawable({0, most > 0 ? most * (1 + y_margin) : 1});
  if (chart.spec.kind == ChartKind::bar) {  // bars stand on zero, or hang from it
    least = std::min(least, 0.0);
    most = std::max(most, 0.0);
  }
  const double margin = most > least ? y_margin * (most - least) : std::max(y_margin * std::abs(most), 1e-9);
  return drawable({least - margin, most + margin});
}

std::string x_axis_commands(const Chart& chart) {
  const AxisRange range = x_range(chart);
  std::string text = fmt::format("set xrange [{:.10g}:{:.10g}]\n", range.low, range.high);
  if (!chart.categories.empty()) return text + category_ticks(chart);
  const auto values = values_of(chart);
  if (range.is_logarithmic) text = fmt::format("set logscale x {}\n", chart.spec.log_x) + text;
  // Of an x that was computed the values are odd numbers, and the points have names of their own.
  const bool has_odd_values = values.size() > most_own_values || !chart.at_points.empty();
  if (range.is_logarithmic && has_odd_values && decimal_ticks(range).size() > 1) return text + decimal_x_ticks(range);
  // gnuplot would put ticks at the hundredths of a single value.
  return range.is_logarithmic || values.size() == 1 ? text + own_ticks(values, range) : text;
}

std::string interval_axes_commands(const Chart& chart) {
  const AxisRange range = y_range(chart);
  std::vector<std::string> names, ticks;
  for (const double value : even_ticks(range))  // the names leave little room for them
    ticks.push_back(fmt::format("{} {:.10g}", quote_gnuplot(number_text(value)), value));
  for (std::size_t i = 0; i < chart.categories.size(); ++i)
    names.push_back(fmt::format("{} {}", quote_tick(shorten_middle(one_line(chart.categories[i]), name_width)), i));
  return fmt::format(
      "set xrange [{:.10g}:{:.10g}]\nset yrange [{:.10g}:-0.6]\nset xtics ({})\nset ytics ({})\n"
      "set grid noytics xtics linecolor rgb text_grey linewidth 0.4 dashtype (2, 5)\n",
      range.low, range.high, static_cast<double>(chart.categories.size()) - 0.4, fmt::join(ticks, ", "),
      fmt::join(names, ", "));
}

std::string y_axis_commands(const Chart& chart) {
  const AxisRange range = y_range(chart);
  std::string text = fmt::format("set yrange [{:.10g}:{:.10g}]\n", range.low, range.high);
  if (!range.is_logarithmic) return text;
  return fmt::format("set logscale y {}\n", chart.spec.log_y) + text + y_ticks(chart, range);
}

}  // namespace gpubench
