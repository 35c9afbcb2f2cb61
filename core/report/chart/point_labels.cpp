#include "core/report/chart/point_labels.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/report/chart/gnuplot_axes.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

// Characters beside each other and lines above each other in the area of the plot.
constexpr double plot_characters = 54, plot_lines = 16;
constexpr std::size_t longest_label = 24;
// Half of a point's size, in characters and lines.
constexpr double point_size = 0.6;

// In shares of the plot's width and height.
struct Box {
  double left, right, bottom, top;

  bool covers(const Box& other) const {
    return left < other.right && other.left < right && bottom < other.top && other.bottom < top;
  }
  // Whether the line from (x0, y0) to (x1, y1) goes through: what is left of it within one side after the other.
  bool is_crossed_by(double x0, double y0, double x1, double y1) const {
    double from = 0, to = 1;
    const auto within = [&](double start, double change, double low, double high) {
      if (change == 0) return start > low && start < high;
      const double a = (low - start) / change, b = (high - start) / change;
      from = std::max(from, std::min(a, b));
      to = std::min(to, std::max(a, b));
      return from < to;
    };
    return within(x0, x1 - x0, left, right) && within(y0, y1 - y0, bottom, top);
  }
  bool is_inside() const { return left >= 0 && right <= 1.02 && bottom >= 0 && top <= 1.02; }
};

struct LabelPlace {
  double right, up;
  int side;
};
// Above and below a point first, where its line seldom runs.
constexpr std::array<LabelPlace, 12> beside_lines{{{0, 1, 0},
                                                   {0, -1, 0},
                                                   {0.8, 1, 1},
                                                   {0.8, -1, 1},
                                                   {-0.8, 1, -1},
                                                   {-0.8, -1, -1},
                                                   {1, 0, 1},
                                                   {-1, 0, -1},
                                                   {0.4, 1.7, 1},
                                                   {-0.4, 1.7, -1},
                                                   {0.4, -1.7, 1},
                                                   {-0.4, -1.7, -1}}};
// A name without which the point could not be read may stand further away.
constexpr std::array<LabelPlace, 12> beside_points{{{1, 0, 1},
                                                    {-1, 0, -1},
                                                    {0, 1, 0},
                                                    {0, -1, 0},
                                                    {0.8, 1, 1},
                                                    {0.8, -1, 1},
                                                    {-0.8, 1, -1},
                                                    {-0.8, -1, -1},
                                                    {0.8, 2, 1},
                                                    {-0.8, 2, -1},
                                                    {0.8, 3, 1},
                                                    {-0.8, 3, -1}}};

Box box_of_point(double x, double y) {
  const double half_width = point_size / plot_characters, half_height = point_size / plot_lines;
  return {x - half_width, x + half_width, y - half_height, y + half_height};
}

struct Segment {
  double x0, y0, x1, y1;
};

// What runs through the plot beside the points: their lines, and their intervals.
std::vector<Segment> segments_of(const Chart& chart, const AxisRange& across, const AxisRange& upwards) {
  std::vector<Segment> segments;
  const auto height = [&](double y) { return upwards.share_of(upwards.is_logarithmic ? std::max(y, upwards.low) : y); };
  for (const ChartSeries& series : chart.series) {
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const ChartPoint& point = series.points[i];
      const double x = across.share_of(point.x);
      if (point.interval) segments.push_back({x, height(point.interval->low), x, height(point.interval->high)});
      if (i == 0 || !chart.categories.empty()) continue;
      const ChartPoint& before = series.points[i - 1];
      segments.push_back({across.share_of(before.x), height(before.y), x, height(point.y)});
    }
  }
  return segments;
}

Box box_of_label(double x, double y, const LabelPlace& place, std::size_t width) {
  const double length = static_cast<double>(width) / plot_characters;
  const double anchor = x + place.right / plot_characters;
  const double left = place.side > 0 ? anchor : place.side < 0 ? anchor - length : anchor - 0.5 * length;
  const double middle = y + place.up / plot_lines;
  return {left, left + length, middle - 0.45 / plot_lines, middle + 0.45 / plot_lines};
}

}  // namespace

std::vector<PointLabel> place_labels(const Chart& chart) {
  const AxisRange across = x_range(chart), upwards = y_range(chart);
  std::vector<Box> taken;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points)
      taken.push_back(box_of_point(across.share_of(point.x), upwards.share_of(point.y)));
  const std::vector<Segment> lines = segments_of(chart, across, upwards);
  std::vector<PointLabel> labels;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      if (point.label.empty()) continue;
      const std::string text = shorten(one_line(point.label), longest_label);
      const double x = across.share_of(point.x), y = upwards.share_of(point.y);
      const auto is_free = [&](const LabelPlace& place) {
        const Box box = box_of_label(x, y, place, display_width(text));
        return box.is_inside() && std::ranges::none_of(taken, [&](const Box& one) { return one.covers(box); }) &&
               std::ranges::none_of(
                   lines, [&](const Segment& one) { return box.is_crossed_by(one.x0, one.y0, one.x1, one.y1); });
      };
      const auto possible =
          chart.is_scatter ? std::span<const LabelPlace>(beside_points) : std::span<const LabelPlace>(beside_lines);
      const auto found = std::ranges::find_if(possible, is_free);
      if (found == possible.end() && !chart.is_scatter) continue;
      const LabelPlace& place = found == possible.end() ? possible.front() : *found;
      taken.push_back(box_of_label(x, y, place, display_width(text)));
      labels.push_back({point.x, point.y, text, place.right, place.up, place.side});
    }
  }
  return labels;
}

}  // namespace gpubench
