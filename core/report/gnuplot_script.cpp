#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "core/base/units.h"
#include "core/report/embedded_files.h"
#include "core/report/gnuplot.h"
#include "core/report/text.h"

namespace gpubench {
namespace {

constexpr double longest_plain_number = 1e6;
// Numbers of line styles in plots/style.gp.
constexpr std::size_t styles = 8;
constexpr std::size_t unreliable_style = 9;
constexpr std::size_t absent_style = 10;
constexpr std::string_view unreliable_text = "unreliable";
// Share of the distance between two categories.
constexpr double bar_group_width = 0.8;
// Share of a bar's place in its group.
constexpr double bar_fill = 0.92;
// A linear axis starts at zero unless all values lie in the upper part of it.
constexpr double start_at_zero_below = 0.6;
// Height of a chart without a key, and what slanted labels and each line of the key add to it.
constexpr std::size_t plot_height = 410;
constexpr std::size_t aslant_height = 80;
constexpr std::size_t key_line_height = 24;
constexpr std::size_t key_line_width = 84;
// Sample and gap beside an entry's text.
constexpr std::size_t key_entry_extra = 10;
// Share of the data's width, on each side.
constexpr double plot_margin = 0.03;
// Longest texts, in characters.
constexpr std::size_t title_width = 84;
constexpr std::size_t key_width = 64;
constexpr std::size_t tick_width = 24;
// Characters that the x axis has for labels side by side.
constexpr std::size_t ticks_width = 80;

std::string label(const std::string& text) {
  return quote_gnuplot(shorten(one_line(text), title_width));
}

// gnuplot takes labels of ticks for formats, in which a percent sign must be doubled.
std::string tick_text(const std::string& label) {
  std::string text;
  for (const char c : shorten(one_line(label), tick_width)) text += c == '%' ? "%%" : std::string(1, c);
  return quote_gnuplot(text);
}

// Whether labels of categories would overlap; they are slanted then.
bool is_crowded(const Chart& chart) {
  std::size_t longest = 0;
  for (const std::string& category : chart.categories) {
    longest = std::max(longest, display_width(shorten(one_line(category), tick_width)));
  }
  return longest * chart.categories.size() > ticks_width;
}

std::string category_ticks(const Chart& chart) {
  std::string ticks;
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    ticks += fmt::format("{}{} {}", i == 0 ? "" : ", ", tick_text(chart.categories[i]), i);
  }
  return fmt::format("set xtics ({}){}\nset xrange [-0.6:{}]\n", ticks, is_crowded(chart) ? " rotate by -30" : "",
                     static_cast<double>(chart.categories.size()) - 0.4);
}

// A whole number in full while that is short; three digits of any other.
std::string number_text(double value) {
  if (std::abs(value) >= longest_plain_number) return format_si(value);
  return value == std::round(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

// Ticks at the measured values rather than at powers between them, as many as fit. `width` is the axis' width in
// logarithms.
std::string own_ticks(const std::map<double, std::string>& values, double width) {
  std::string ticks;
  double free_from = -1;
  for (const auto& [value, own_text] : values) {
    const std::string text = own_text.empty() ? number_text(value) : own_text;
    const double middle = std::log(value / values.begin()->first) / width * static_cast<double>(ticks_width);
    const double half = 0.5 * static_cast<double>(text.size());
    if (!ticks.empty() && middle - half < free_from) continue;
    ticks += fmt::format("{}{} {:.10g}", ticks.empty() ? "" : ", ", quote_gnuplot(text), value);
    free_from = middle + half + 1;
  }
  return fmt::format("set xtics ({})\n", ticks);
}

// The x axis ends a little beyond the data, so that points and ticks at its ends are not cut off.
std::string x_range(const Chart& chart) {
  std::map<double, std::string> values;  // with their own names, where they have some
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) values.emplace(point.x, point.x_text);
    for (const FailedPoint& point : series.failed) values.emplace(point.x, point.x_text);
  }
  const double first = values.begin()->first;
  const double last = values.rbegin()->first;
  if (chart.spec.log_x == 0) {
    const double margin = plot_margin * (last - first);
    if (margin > 0) return fmt::format("set xrange [{}:{}]\n", first - margin, last + margin);
    // A single value has no width: gnuplot would put ticks at its hundredths.
    const std::string& own_text = values.begin()->second;
    return fmt::format("set xrange [{}:{}]\nset xtics ({} {})\n", first - 1, first + 1,
                       quote_gnuplot(own_text.empty() ? number_text(first) : own_text), first);
  }
  std::string text = fmt::format("set logscale x {}\n", chart.spec.log_x);
  if (first <= 0) return text;
  const double factor = first == last ? chart.spec.log_x : std::pow(last / first, plot_margin);
  text += fmt::format("set xrange [{:.6g}:{:.6g}]\n", first / factor, last * factor);
  return text + own_ticks(values, std::log(last / first * factor * factor));
}

std::string y_range(const Chart& chart) {
  if (chart.spec.log_y != 0) return "";
  double least = 0;
  double most = 0;
  bool first = true;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      least = first ? point.y : std::min(least, point.y);
      most = first ? point.y : std::max(most, point.y);
      first = false;
    }
  }
  const bool from_zero = least >= 0 && (chart.spec.kind == ChartKind::bar || least < start_at_zero_below * most);
  return from_zero ? "set yrange [0:*]\n" : "";
}

std::string absent_text(const AbsentSeries& absent) {
  return shorten(absent.name + (absent.name.empty() ? "" : ": ") + "no points (" + absent.reason + ")", key_width);
}

bool has_unreliable(const Chart& chart) {
  return std::ranges::any_of(chart.series, [](const ChartSeries& series) {
    return std::ranges::any_of(series.points, &ChartPoint::unreliable);
  });
}

std::vector<std::string> key_entries(const Chart& chart) {
  std::vector<std::string> entries;
  for (const ChartSeries& series : chart.series) {
    if (!series.name.empty()) entries.push_back(shorten(one_line(series.name), key_width));
  }
  if (has_unreliable(chart)) entries.emplace_back(unreliable_text);
  for (const AbsentSeries& absent : chart.absent) entries.push_back(absent_text(absent));
  return entries;
}

// The key takes its room from the plot, so a chart of many series is made higher.
std::size_t chart_height(const Chart& chart) {
  const std::vector<std::string> entries = key_entries(chart);
  const std::size_t height = plot_height + (is_crowded(chart) ? aslant_height : 0);
  if (entries.empty()) return height;
  std::size_t widest = 0;
  for (const std::string& entry : entries) widest = std::max(widest, display_width(entry) + key_entry_extra);
  const std::size_t columns = std::max<std::size_t>(key_line_width / widest, 1);
  return height + key_line_height * ((entries.size() + columns - 1) / columns);
}

bool has_intervals(const ChartSeries& series) {
  return std::ranges::any_of(series.points, [](const ChartPoint& point) { return point.interval.has_value(); });
}

double bar_width(const Chart& chart) {
  return bar_group_width / static_cast<double>(chart.series.size());
}

// Distance of a series' bars from the middle of their category.
double bar_offset(const Chart& chart, std::size_t series) {
  return (static_cast<double>(series) - 0.5 * static_cast<double>(chart.series.size() - 1)) * bar_width(chart);
}

std::string data_block(const Chart& chart, std::size_t index) {
  const bool bars = chart.spec.kind == ChartKind::bar;
  std::string block = fmt::format("$series{} << END\n", index + 1);
  for (const ChartPoint& point : chart.series[index].points) {
    const Interval interval = point.interval.value_or(Interval{point.y, point.y});
    block += fmt::format("{} {} {} {}\n", point.x + (bars ? bar_offset(chart, index) : 0), point.y, interval.low,
                         interval.high);
  }
  return block + "END\n";
}

// Rings around the points of unreliable rows.
std::string unreliable_block(const Chart& chart) {
  const bool bars = chart.spec.kind == ChartKind::bar;
  std::string block = "$unreliable << END\n";
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    for (const ChartPoint& point : chart.series[i].points) {
      if (point.unreliable) block += fmt::format("{} {}\n", point.x + (bars ? bar_offset(chart, i) : 0), point.y);
    }
  }
  return block + "END\n";
}

// What became of points that have no figure, upright where they would stand.
std::string failed_labels(const Chart& chart) {
  const bool bars = chart.spec.kind == ChartKind::bar;
  std::string labels;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    for (const FailedPoint& point : chart.series[i].failed) {
      labels += fmt::format("set label {} at first {}, graph 0.02 rotate by 90 left textcolor rgb text_grey\n",
                            label(point.reason), point.x + (bars ? bar_offset(chart, i) : 0));
    }
  }
  return labels;
}

// Intervals as vectors with flat heads: gnuplot's error bars have a white disc that hides the bar's middle.
std::string interval_clause(const std::string& data, const std::string& line) {
  return fmt::format("{} using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 {} notitle",
                     data, line);
}

std::string plot_clause(const Chart& chart, std::size_t index) {
  const ChartSeries& series = chart.series[index];
  const std::string title = series.name.empty() ? "notitle" : "title " + quote_gnuplot(shorten(series.name, key_width));
  const std::string data = fmt::format("$series{}", index + 1);
  const std::string line = fmt::format("linestyle {}", index % styles + 1);
  const bool bars = chart.spec.kind == ChartKind::bar;
  std::string clause =
      bars ? fmt::format("{} using 1:2:({:.3g}) with boxes {} {}", data, bar_fill * bar_width(chart), line, title)
           // Nothing lies between two categories.
           : fmt::format("{} using 1:2 with {} {} {}", data, chart.categories.empty() ? "linespoints" : "points", line,
                         title);
  if (has_intervals(series)) {
    clause += ", " + interval_clause(data, bars ? "linecolor rgb text_grey linewidth 1.5" : line + " dashtype 1");
  }
  return clause;
}

std::vector<std::string> plot_clauses(const Chart& chart) {
  std::vector<std::string> clauses;
  for (std::size_t i = 0; i < chart.series.size(); ++i) clauses.push_back(plot_clause(chart, i));
  if (has_unreliable(chart)) {
    clauses.push_back(fmt::format("$unreliable using 1:2 with points linestyle {} title {}", unreliable_style,
                                  quote_gnuplot(unreliable_text)));
  }
  for (const AbsentSeries& absent : chart.absent) {
    clauses.push_back(
        fmt::format("keyentry with points linestyle {} title {}", absent_style, quote_gnuplot(absent_text(absent))));
  }
  return clauses;
}

}  // namespace

std::string gnuplot_script(const Chart& chart) {
  const ChartSpec& spec = chart.spec;
  std::string script = "# Made by gpubench. To draw it again, run gnuplot in this folder.\n";
  script += fmt::format("chart_height = {}\n{}", chart_height(chart), embedded::gnuplot_style);
  script += fmt::format("set output {}\n", quote_gnuplot(spec.name + ".svg"));
  script += fmt::format("set title {}\nset xlabel {}\nset ylabel {}\n", label(spec.title), label(chart.x_label),
                        label(chart.y_label));
  script += chart.categories.empty() ? x_range(chart) : category_ticks(chart);
  if (spec.log_y != 0) script += fmt::format("set logscale y {}\n", spec.log_y);
  script += y_range(chart) + failed_labels(chart);
  for (std::size_t i = 0; i < chart.series.size(); ++i) script += data_block(chart, i);
  if (has_unreliable(chart)) script += unreliable_block(chart);
  return script + fmt::format("plot {}\n", fmt::join(plot_clauses(chart), ", \\\n     "));
}

}  // namespace gpubench
