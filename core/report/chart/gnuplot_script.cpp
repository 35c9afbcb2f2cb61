#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/report/chart/gnuplot.h"
#include "core/report/chart/gnuplot_axes.h"
#include "core/report/chart/gnuplot_heat.h"
#include "core/report/chart/point_labels.h"
#include "core/report/embedded_files.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

// Numbers of line styles in plots/style.gp.
constexpr std::size_t styles = 8;
constexpr std::size_t unreliable_style = 9;
constexpr std::size_t absent_style = 10;
constexpr std::string_view unreliable_text = "unreliable";
// By style: fill patterns of gnuplot, so that bars can be told apart without colours; 0 stands for a plain area.
constexpr std::array<int, styles> patterns{0, 4, 2, 5, 6, 1, 7, 0};
// Share of the distance between two categories.
constexpr double bar_group_width = 0.8;
// Share of a bar's place in its group.
constexpr double bar_fill = 0.92;
// Height of a chart without a key, and what slanted labels and each line of the title beyond the first and of the key
// add to it.
constexpr std::size_t plot_height = 410;
constexpr std::size_t aslant_height = 80;
constexpr std::size_t line_height = 24;
// Of a chart of intervals: a name, and title and axis together.
constexpr std::size_t name_height = 24, axis_height = 130;
// Sample and gap beside an entry's text, and an entry's longest text.
constexpr std::size_t key_entry_extra = 8;
constexpr std::size_t key_width = 46;
// Series and absent ones that the key names at most.
constexpr std::size_t most_entries = 16;
// A line of more points has neither marks nor intervals, which would cover each other.
constexpr std::size_t most_marks = 120;
// Share of the plot's height below which a bar is not seen.
constexpr double least_bar = 0.008;
// A heat map that is as high as other charts has this many rows.
constexpr std::size_t usual_rows = 9;

std::string label(const std::string& text) {
  return quote_gnuplot(shorten(one_line(text), chart_characters));
}

// At most two lines of words.
std::vector<std::string> title_lines(const std::string& title) {
  const std::string text = one_line(title);
  if (display_width(text) <= chart_characters) return {text};
  std::size_t end = 0;
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1)) {
    if (display_width(text.substr(0, at)) > chart_characters) break;
    end = at;
  }
  if (end == 0) return {shorten(text, chart_characters)};
  return {text.substr(0, end), shorten(text.substr(end + 1), chart_characters)};
}

std::string title_commands(const std::string& title) {
  std::vector<std::string> lines;
  for (const std::string& line : title_lines(title)) lines.push_back(quote_gnuplot(line));
  return fmt::format("set title {}\n", fmt::join(lines, R"(."\n".)"));
}

std::string absent_text(const AbsentSeries& absent) {
  return shorten(absent.name + (absent.name.empty() ? "" : ": ") + "no points (" + absent.reason + ")", key_width);
}

bool has_marks(const ChartSeries& series) {
  return series.points.size() <= most_marks;
}

bool has_unreliable(const Chart& chart) {
  return std::ranges::any_of(chart.series, [](const ChartSeries& series) {
    return has_marks(series) && std::ranges::any_of(series.points, &ChartPoint::unreliable);
  });
}

bool has_entry(const Chart& chart, std::size_t index) {
  return !chart.series[index].name.empty() && !chart.is_scatter && index < most_entries;
}

// What the key does not name.
std::string rest_text(const Chart& chart) {
  const auto beyond = [](std::size_t count) { return count > most_entries ? count - most_entries : 0; };
  const std::size_t rest = beyond(chart.absent.size()) + (chart.is_scatter ? 0 : beyond(chart.series.size()));
  return rest == 0 ? "" : fmt::format("and {} more", rest);
}

std::span<const AbsentSeries> named_absent(const Chart& chart) {
  return std::span(chart.absent).first(std::min(chart.absent.size(), most_entries));
}

std::vector<std::string> key_entries(const Chart& chart) {
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (has_entry(chart, i)) entries.push_back(shorten(one_line(chart.series[i].name), key_width));
  }
  if (has_unreliable(chart)) entries.emplace_back(unreliable_text);
  for (const AbsentSeries& absent : named_absent(chart)) entries.push_back(absent_text(absent));
  if (const std::string rest = rest_text(chart); !rest.empty()) entries.push_back(rest);
  return entries;
}

bool has_intervals(const ChartSeries& series) {
  return has_marks(series) && std::ranges::any_of(series.points, [](const ChartPoint& point) {
           return point.interval && point.interval->low < point.interval->high;
         });
}

double bar_width(const Chart& chart) {
  return bar_group_width / static_cast<double>(chart.series.size());
}

// Distance of a series' bars from the middle of their category.
double bar_offset(const Chart& chart, std::size_t series) {
  return (static_cast<double>(series) - 0.5 * static_cast<double>(chart.series.size() - 1)) * bar_width(chart);
}

// Distance of a series' points from the middle of their name: none where every name has points of one series only.
double interval_offset(const Chart& chart, std::size_t series) {
  std::map<double, std::size_t> owners;
  bool shared = false;
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    for (const ChartPoint& point : chart.series[i].points)
      shared = shared || owners.emplace(point.x, i).first->second != i;
  return shared ? 0.5 * bar_offset(chart, series) : 0;
}

double offset_of(const Chart& chart, std::size_t series) {
  if (chart.spec.kind == ChartKind::bar) return bar_offset(chart, series);
  return chart.spec.kind == ChartKind::interval ? interval_offset(chart, series) : 0;
}

// x and y as the kind of chart lays them.
std::string place_text(const Chart& chart, double x, double y) {
  return chart.spec.kind == ChartKind::interval ? fmt::format("{} {}", y, x) : fmt::format("{} {}", x, y);
}

std::string data_block(const Chart& chart, std::size_t index) {
  const double offset = offset_of(chart, index);
  std::string block = fmt::format("$series{} << END\n", index + 1);
  const AxisRange range = y_range(chart);
  for (const ChartPoint& point : chart.series[index].points) {
    Interval interval = point.interval.value_or(Interval{point.y, point.y});
    if (range.is_logarithmic) interval.low = std::max(interval.low, range.low);
    block += fmt::format("{} {} {}\n", place_text(chart, point.x + offset, point.y), interval.low, interval.high);
  }
  return block + "END\n";
}

// Rings around the points of unreliable rows.
std::string unreliable_block(const Chart& chart) {
  std::string block = "$unreliable << END\n";
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (!has_marks(chart.series[i])) continue;
    for (const ChartPoint& point : chart.series[i].points) {
      if (point.unreliable) block += place_text(chart, point.x + offset_of(chart, i), point.y) + "\n";
    }
  }
  return block + "END\n";
}

// Lines through the chart: bounds of y, and marked values of x.
std::string marker_commands(const Chart& chart) {
  constexpr std::string_view look = "nohead linecolor rgb text_grey linewidth 1.2 dashtype";
  std::string text;
  if (chart.spec.kind == ChartKind::interval) {
    for (const double limit : chart.limits)
      text +=
          fmt::format("set arrow from first {0:.10g}, graph 0 to first {0:.10g}, graph 1 {1} (8, 5)\n", limit, look);
    return text;
  }
  for (const double limit : chart.limits) {
    text += fmt::format("set arrow from graph 0, first {0:.10g} to graph 1, first {0:.10g} {1} (8, 5)\n", limit, look);
    text += fmt::format("set label {} at graph 0.99, first {:.10g} right offset 0,0.5 textcolor rgb text_grey\n",
                        quote_gnuplot("limit " + number_text(limit)), limit);
  }
  for (const PlacedMark& mark : chart.marks) {
    text += fmt::format("set arrow from first {0:.10g}, graph 0 to first {0:.10g}, graph 1 {1} (2, 4)\n", mark.x, look);
    text += fmt::format("set label {} at first {:.10g}, graph 0.04 left offset 0.6,0 textcolor rgb text_grey\n",
                        label(mark.name), mark.x);
  }
  return text;
}

// "batch size, log scale; at the points: workers".
std::string axis_label(const std::string& text, bool is_logarithmic, const std::string& at_points = "") {
  if (!is_logarithmic) return label(text + at_points);
  const std::string marked = text + ", log scale" + at_points;
  return label(display_width(marked) > chart_characters ? text + ", log" + at_points : marked);
}

/// Figures of bars side by side, as one text.
struct LowBars {
  double first_x, last_x, least, most;
  std::string text() const {
    const std::string low = number_text(least), high = number_text(most);
    return low == high ? low : low + " to " + high;
  }
};

// Of a category: each bar by itself, or those together whose figures would overlap.
std::vector<LowBars> low_bars_at(const Chart& chart, double category) {
  const AxisRange y = y_range(chart), x = x_range(chart);
  const double character = (x.high - x.low) / static_cast<double>(chart_characters);
  std::vector<LowBars> all;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    for (const ChartPoint& point : chart.series[i].points) {
      if (point.x != category || std::abs(y.share_of(point.y) - y.share_of(0)) >= least_bar) continue;
      const double at = point.x + bar_offset(chart, i);
      const LowBars bar{at, at, point.y, point.y};
      const double room = all.empty() ? 0 : at - all.back().last_x;
      if (all.empty() || room > character * static_cast<double>(bar.text().size() + 1)) {
        all.push_back(bar);
      } else {
        LowBars& together = all.back();
        together = {together.first_x, at, std::min(together.least, point.y), std::max(together.most, point.y)};
      }
    }
  }
  return all;
}

// The figure of a bar that is too low to be seen, which would look like a missing one.
std::string low_bar_labels(const Chart& chart) {
  if (chart.spec.kind != ChartKind::bar) return {};
  std::string text;
  for (std::size_t category = 0; category < chart.categories.size(); ++category) {
    for (const LowBars& bars : low_bars_at(chart, static_cast<double>(category))) {
      text +=
          fmt::format("set label {} at first {:.10g}, first 0 center offset 0,0.6 font ',14' textcolor rgb text_grey\n",
                      quote_gnuplot(bars.text()), 0.5 * (bars.first_x + bars.last_x));
    }
  }
  return text;
}

std::string label_commands(const Chart& chart) {
  std::string text;
  for (const PointLabel& one : place_labels(chart)) {
    text += fmt::format(
        "set label {} at first {:.10g}, first {:.10g} {} offset character {},{} font ',14' textcolor rgb text_grey\n",
        quote_gnuplot(one.text), one.x, one.y,
        one.side > 0   ? "left"
        : one.side < 0 ? "right"
                       : "center",
        one.right, one.up);
  }
  return text;
}

// What became of points that have no figure, upright where they would stand; once for lines that lack the same one.
std::string failed_labels(const Chart& chart) {
  const bool bars = chart.spec.kind == ChartKind::bar;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    for (const FailedPoint& point : chart.series[i].failed) {
      std::string one = fmt::format("set label {} at first {}, graph 0.02 rotate by 90 left textcolor rgb text_grey\n",
                                    label(point.reason), point.x + (bars ? bar_offset(chart, i) : 0));
      if (std::ranges::find(labels, one) == labels.end()) labels.push_back(std::move(one));
    }
  }
  return fmt::format("{}", fmt::join(labels, ""));
}

// Intervals as vectors with flat heads: gnuplot's error bars have a white disc that hides the bar's middle.
std::string interval_clause(const Chart& chart, const std::string& data, const std::string& line) {
  const std::string_view columns = chart.spec.kind == ChartKind::interval ? "3:2:($4 > $3 ? $4 - $3 : NaN):(0)"
                                                                          : "1:3:(0):($4 > $3 ? $4 - $3 : NaN)";
  return fmt::format("{} using {} with vectors heads size screen 0.006,90 {} notitle", data, columns, line);
}

std::string plot_clause(const Chart& chart, std::size_t index) {
  const ChartSeries& series = chart.series[index];
  const std::string title =
      has_entry(chart, index) ? "title " + quote_gnuplot(shorten(series.name, key_width)) : "notitle";
  const std::string data = fmt::format("$series{}", index + 1);
  const std::size_t style = series.style % styles;
  const std::string line = fmt::format("linestyle {}", style + 1);
  const bool bars = chart.spec.kind == ChartKind::bar;
  std::string clause;
  if (bars) {
    const std::string fill =
        patterns[style] == 0 ? "solid 0.85" : fmt::format("transparent pattern {}", patterns[style]);
    clause = fmt::format("{} using 1:2:({:.3g}) with boxes {} dashtype 1 fillstyle {} border {}", data,
                         bar_fill * bar_width(chart), line, fill, title);
  } else {
    // Nothing lies between two categories.
    const std::string_view with = !chart.categories.empty() ? "points" : has_marks(series) ? "linespoints" : "lines";
    clause = fmt::format("{} using 1:2 with {} {} {}", data, with, line, title);
  }
  if (has_intervals(series)) {
    clause +=
        ", " + interval_clause(chart, data, bars ? "linecolor rgb text_grey linewidth 1.5" : line + " dashtype 1");
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
  for (const AbsentSeries& absent : named_absent(chart)) {
    clauses.push_back(
        fmt::format("keyentry with points linestyle {} title {}", absent_style, quote_gnuplot(absent_text(absent))));
  }
  if (const std::string rest = rest_text(chart); !rest.empty())
    clauses.push_back(fmt::format("keyentry with points pointtype -2 title {}", quote_gnuplot(rest)));
  return clauses;
}

std::string axis_commands(const Chart& chart) {
  if (chart.spec.kind == ChartKind::interval)
    // The key stands below the plot, which is narrow beside its names: an entry a line.
    return fmt::format("set key maxcols 1\nset xlabel {}\n", label(chart.y_label)) + interval_axes_commands(chart);
  return fmt::format("set xlabel {}\nset ylabel {}\n",
                     axis_label(chart.x_label, x_range(chart).is_logarithmic, chart.at_points),
                     axis_label(chart.y_label, y_range(chart).is_logarithmic)) +
         x_axis_commands(chart) + y_axis_commands(chart);
}

// Axes, marks and data of all charts but heat maps.
std::string line_commands(const Chart& chart) {
  std::string text = axis_commands(chart);
  text += marker_commands(chart) + label_commands(chart) + low_bar_labels(chart) + failed_labels(chart);
  for (std::size_t i = 0; i < chart.series.size(); ++i) text += data_block(chart, i);
  if (has_unreliable(chart)) text += unreliable_block(chart);
  return text;
}

}  // namespace

bool has_intervals(const Chart& chart) {
  return chart.spec.kind != ChartKind::heat &&
         std::ranges::any_of(chart.series, [](const ChartSeries& series) { return has_intervals(series); });
}

bool has_rings(const Chart& chart) {
  return has_unreliable(chart);
}

// The key takes its room from the plot, so a chart of many series is made higher.
std::size_t chart_height(const Chart& chart) {
  const std::vector<std::string> entries = key_entries(chart);
  std::size_t height = chart.spec.kind == ChartKind::interval
                           ? std::max(plot_height, name_height * chart.categories.size() + axis_height)
                           : plot_height + (is_crowded(chart) ? aslant_height : 0);
  if (chart.spec.kind == ChartKind::heat) {
    height += line_height * (title_lines(chart.spec.title).size() - 1 + (has_unreliable(chart) ? 1 : 0));
    return height + line_height * std::max(heat_rows(chart), usual_rows) - line_height * usual_rows;
  }
  height += line_height * (title_lines(chart.spec.title).size() - 1);
  if (entries.empty()) return height;
  std::size_t widest = 0;
  for (const std::string& entry : entries) widest = std::max(widest, display_width(entry) + key_entry_extra);
  const bool is_narrow = chart.spec.kind == ChartKind::interval;
  const std::size_t columns = is_narrow ? 1 : std::max<std::size_t>(chart_characters / widest, 1);
  return height + line_height * ((entries.size() + columns - 1) / columns);
}

std::string gnuplot_script(const Chart& chart, std::size_t height, const ChartFormats& formats) {
  const ChartSpec& spec = chart.spec;
  std::string script = "# Made by gpubench. To draw it again, run gnuplot in this folder.\n";
  script += embedded::gnuplot_style;
  script += title_commands(spec.title);
  const bool is_heat = spec.kind == ChartKind::heat;
  script += is_heat ? heat_commands(chart) : line_commands(chart);
  std::string draw =
      is_heat ? heat_plot(chart) : fmt::format("plot {}\n", fmt::join(plot_clauses(chart), ", \\\n     "));
  for (const ChartFormat format : formats) {
    script += terminal_command(format, height);
    script += fmt::format("set output {}\n{}", quote_gnuplot(fmt::format("{}.{}", spec.name, to_string(format))), draw);
    draw = "replot\n";
  }
  return script;
}

}  // namespace gpubench
