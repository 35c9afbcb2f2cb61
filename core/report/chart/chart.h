// The content of a chart, computed from rows and independent of the drawing program. Rows are never averaged: axes that
// vary besides x and series form further series. No row is omitted silently: unreliable points are marked, a series
// without a point is listed with the reason, and measured points without the figure are counted.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/estimate.h"
#include "core/results/column.h"
#include "core/results/record.h"

namespace gpubench {

/// A heat map has a row of cells for each series. A distribution and a course show single steps (sample_chart.h).
/// Intervals lie across the chart, with the names of x down its side.
enum class ChartKind { line, bar, heat, distribution, course, interval };
/// "line", "bar", "heat", "distribution", "course" or "interval"; throws Error otherwise.
ChartKind parse_chart_kind(std::string_view name);
std::string_view to_string(ChartKind kind);
/// Whether the figures are those of single steps.
bool is_of_samples(ChartKind kind);

/// A value of x at which an upright line with a name stands.
struct ChartMark {
  Cell x;
  std::string name;
};

/// An axis of the sweep and its values, as they were declared; a run that died may lack them.
struct ChartAxis {
  std::string name;
  std::vector<Cell> values = {};
};

struct ChartSpec {
  ChartKind kind = ChartKind::line;
  /// File name without its extension; "<y>_by_<x>" if empty.
  std::string name = {};
  /// "<y> by <x>" if empty.
  std::string title = {};
  std::string x = {};
  std::string y = {};
  /// Column whose values distinguish series; may be empty.
  std::string series = {};
  /// Only rows with these values are drawn or listed as absent.
  Record where = {};
  /// Base of a logarithmic axis; 0 for a linear one.
  double log_x = 0;
  double log_y = 0;
  /// An axis of which `where` has one value; charts of its other values have the same scale of y.
  std::string each = {};
  /// Column in whose order a line joins its points, and whose values are written at them. Empty: the axis that a
  /// computed x follows from, else x.
  std::string order = {};
  /// Bounds of y, drawn as lines across the chart.
  std::vector<double> limits = {};
  /// Values of x at which a claim found a knee.
  std::vector<Cell> knees = {};
  /// Others that are marked.
  std::vector<ChartMark> marks = {};
};

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<Interval> interval;
  /// Whether the row's `quality` is unreliable.
  bool unreliable = false;
  /// The label of x with its own unit ("4 KiB") on an axis over many magnitudes; else empty.
  std::string x_text = {};
  /// Text beside the point: its value of `order`, or the series if that has no other point; else empty.
  std::string label = {};
  /// The row's `verdict`, for readers of the chart's figures.
  std::string verdict = {};
};

/// A point that has no figure to draw: its place stays empty and says why.
struct FailedPoint {
  double x = 0;
  /// "out of memory", "timeout", "error", or a figure that a logarithmic axis does not have.
  std::string reason;
  /// As ChartPoint::x_text.
  std::string x_text = {};
};

/// The values of the columns that tell the series of a chart apart, by column.
using SeriesSetting = std::map<std::string, std::string>;

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
  std::vector<FailedPoint> failed = {};
  SeriesSetting setting = {};
  /// From 0: colour, dash, shape and pattern.
  std::size_t style = 0;
};

/// A series without any point.
struct AbsentSeries {
  std::string name;
  /// "out of memory", "error, timeout", "not measured".
  std::string reason;
  SeriesSetting setting = {};
};

/// Points of drawn series that were measured, but have no y, for one reason.
struct PointsWithoutFigure {
  std::size_t points = 0;
  std::string figure;
  /// What y is, and when it is empty; or what the rows say of empty cells. May be empty.
  std::string reason;
};

/// A mark in the units of the axis.
struct PlacedMark {
  double x = 0;
  std::string name;

  bool operator==(const PlacedMark&) const = default;
};

struct Chart {
  ChartSpec spec;
  std::string x_label;
  std::string at_points{};  ///< what stands at the points, behind the label of x; empty if nothing does
  std::string y_label;
  /// If not empty, x of a point is an index into these.
  std::vector<std::string> categories;
  std::vector<ChartSeries> series;
  std::vector<AbsentSeries> absent = {};
  std::vector<PointsWithoutFigure> without_figure = {};
  /// Range of all figures, limits and, but for very long ones, intervals, also of the charts that share the scale.
  Interval y_range = {};
  /// In the units of the axes.
  std::vector<double> limits = {};
  /// Knees among them.
  std::vector<PlacedMark> marks = {};
  /// Every series is a single point with its name beside it, and needs no key.
  bool is_scatter = false;
};

/// Throws Error if a column is unknown, a base is not above 1, bars would need a logarithmic axis, a heat map has no
/// series or a logarithmic x, no row selected by `where` has both x and y, or a logarithmic y has no figure above zero.
/// Only rows with status "ok" are drawn. An axis of x that has values of zero or below is linear.
Chart make_chart(ChartSpec spec, std::span<const Column> columns, std::span<const Record> records,
                 std::span<const ChartAxis> axes);

/// Gives a value of a series one style in all charts of a run whose series are told apart by the same columns.
void assign_styles(std::span<Chart> charts);

}  // namespace gpubench
