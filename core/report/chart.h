// The content of a chart, computed from rows and independent of the drawing program. Rows are never averaged: axes that
// vary besides x and series form further series. No row is omitted silently: unreliable points are marked, and a series
// without a point is listed with the reason.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/estimate.h"
#include "core/results/column.h"
#include "core/results/record.h"

namespace gpubench {

enum class ChartKind { line, bar };
/// "line" or "bar"; throws Error otherwise.
ChartKind parse_chart_kind(std::string_view name);

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
};

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<Interval> interval;
  /// Whether the row's `quality` is unreliable.
  bool unreliable = false;
  /// The label of x with its own unit ("4 KiB") on an axis over many magnitudes; else empty.
  std::string x_text = {};
};

/// A point that failed: its place stays empty and says why.
struct FailedPoint {
  double x = 0;
  /// "out of memory", "timeout", "error".
  std::string reason;
  /// As ChartPoint::x_text.
  std::string x_text = {};
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
  std::vector<FailedPoint> failed = {};
};

/// A series without any point.
struct AbsentSeries {
  std::string name;
  /// "out of memory", "error, timeout", "not measured".
  std::string reason;
};

struct Chart {
  ChartSpec spec;
  std::string x_label;
  std::string y_label;
  /// If not empty, x of a point is an index into these.
  std::vector<std::string> categories;
  std::vector<ChartSeries> series;
  std::vector<AbsentSeries> absent = {};
};

/// Throws Error if a column is unknown, a base is not above 1, bars would need a logarithmic axis, or no row selected
/// by `where` has both x and y. Only rows with status "ok" are drawn.
Chart make_chart(ChartSpec spec, std::span<const Column> columns, std::span<const Record> records,
                 std::span<const std::string> axes);

}  // namespace gpubench
