#include "core/report/gnuplot_script.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "core/report/text.h"

namespace gpubench {
namespace {

constexpr std::size_t kStyles = 8;
// Of the distance between two categories.
constexpr double kBarGroupWidth = 0.8;
// A linear axis starts at zero unless all values lie in the upper part of it.
constexpr double kStartAtZeroBelow = 0.6;
constexpr std::size_t kMostOwnTicks = 14;
// What has room, in characters.
constexpr std::size_t kTitleWidth = 84;
constexpr std::size_t kKeyWidth = 64;
constexpr std::size_t kTickWidth = 32;
// Ticks of all categories that fit side by side.
constexpr std::size_t kTicksWidth = 80;

std::string label(const std::string& text) {
  return quote_gnuplot(shorten(one_line(text), kTitleWidth));
}

// Labels of ticks are formats to gnuplot, in which a percent sign must be doubled.
std::string tick_text(const std::string& label) {
  std::string text;
  for (const char c : shorten(one_line(label), kTickWidth)) text += c == '%' ? "%%" : std::string(1, c);
  return quote_gnuplot(text);
}

std::string category_ticks(const Chart& chart) {
  std::string ticks;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    ticks += fmt::format("{}{} {}", i == 0 ? "" : ", ", tick_text(chart.categories[i]), i);
    longest = std::max(longest, display_width(one_line(chart.categories[i])));
  }
  const bool crowded = std::min(longest, kTickWidth) * chart.categories.size() > kTicksWidth;
  return fmt::format("set xtics ({}){}\nset xrange [-0.6:{}]\n", ticks, crowded ? " rotate by -30" : "",
                     static_cast<double>(chart.categories.size()) - 0.4);
}

// A logarithmic x axis shows the values that were measured rather than powers between them.
std::string value_ticks(const Chart& chart) {
  std::set<double> values;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) values.insert(point.x);
  }
  if (values.size() > kMostOwnTicks) return "";
  return fmt::format("set xtics ({})\n", fmt::join(values, ", "));
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
  const bool from_zero = least >= 0 && (chart.spec.kind == ChartKind::bar || least < kStartAtZeroBelow * most);
  return from_zero ? "set yrange [0:*]\n" : "";
}

bool has_intervals(const ChartSeries& series) {
  return std::ranges::any_of(series.points, [](const ChartPoint& point) { return point.interval.has_value(); });
}

double bar_width(const Chart& chart) {
  return kBarGroupWidth / static_cast<double>(chart.series.size());
}

// Where a series' bars stand beside the middle of their category.
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

std::string plot_clause(const Chart& chart, std::size_t index) {
  const ChartSeries& series = chart.series[index];
  const std::string title = series.name.empty() ? "notitle" : "title " + quote_gnuplot(shorten(series.name, kKeyWidth));
  const std::string data = fmt::format("$series{}", index + 1);
  const std::size_t style = index % kStyles + 1;
  if (chart.spec.kind == ChartKind::line) {
    return has_intervals(series) ? fmt::format(
                                       "{0} using 1:2:3:4 with yerrorbars linestyle {1} dashtype 1 notitle, "
                                       "{0} using 1:2 with linespoints linestyle {1} {2}",
                                       data, style, title)
                                 : fmt::format("{} using 1:2 with linespoints linestyle {} {}", data, style, title);
  }
  std::string clause =
      fmt::format("{} using 1:2:({}) with boxes linestyle {} {}", data, 0.92 * bar_width(chart), style, title);
  if (has_intervals(series)) {
    clause += fmt::format(", {} using 1:2:3:4 with yerrorbars linecolor rgb text_grey pointtype 0 notitle", data);
  }
  return clause;
}

}  // namespace

std::string gnuplot_script(const Chart& chart) {
  const ChartSpec& spec = chart.spec;
  std::string script = "# Made by gpubench. To draw it again, run gnuplot in this folder.\nload '../../style.gp'\n";
  script += fmt::format("set output {}\n", quote_gnuplot(spec.name + ".svg"));
  script += fmt::format("set title {}\nset xlabel {}\nset ylabel {}\n", label(spec.title), label(chart.x_label),
                        label(chart.y_label));
  if (!chart.categories.empty()) {
    script += category_ticks(chart);
  } else if (spec.log_x != 0) {
    script += fmt::format("set logscale x {}\n{}", spec.log_x, value_ticks(chart));
  }
  if (spec.log_y != 0) script += fmt::format("set logscale y {}\n", spec.log_y);
  script += y_range(chart);
  for (std::size_t i = 0; i < chart.series.size(); ++i) script += data_block(chart, i);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    script += (i == 0 ? "plot " : ", \\\n     ") + plot_clause(chart, i);
  }
  return script + "\n";
}

}  // namespace gpubench
