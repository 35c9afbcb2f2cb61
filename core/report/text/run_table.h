// A run's rows for people: units are scaled, intervals stand beside their medians, columns without information are left
// out.
#pragma once
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/report/text/table.h"
#include "core/results/column.h"
#include "core/results/record.h"

namespace gpubench {

/// "45.2 µs", "12.3 k", "87.5 %": the unit's prefix is in the cell, "per second" in the heading.
std::string format_cell(const Cell& cell, Unit unit);
/// The name in words: "examples/s", "step time", "peak memory".
std::string heading_of(const Column& column);

/// "0.4 %": half-width of the interval of the step time's median; empty without one.
std::string format_step_error(const Record& record);
/// Whether the column says what went wrong, or how sound the row is.
bool is_remark(std::string_view column);
/// The columns of intervals' ends, which are no columns of a table.
std::set<std::string> interval_ends(std::span<const Column> columns);

/// A setting that is equal in all rows that have it.
struct CommonValue {
  std::string heading;
  std::string text;
};

struct RunTable {
  Table table;
  /// How many columns at its begin are the point and axes, and how many at its end say what went wrong.
  std::size_t axes = 0, problems = 0;
  /// Settings that are left out of the table because they are equal in all of two or more rows.
  std::vector<CommonValue> common;
};

enum class Detail {
  /// Axes, figures, and errors.
  brief,
  /// Every column that has a value.
  full
};

bool is_skipped(const Record& record);

/// The rows of points that were not skipped, in the order of the sweep: points that claims compare are done first.
std::vector<Record> rows_to_show(std::span<const Record> records);

/// Points that the script skipped for one reason.
struct SkippedPoints {
  std::string reason;
  int points = 0;
};
std::vector<SkippedPoints> skipped_points(std::span<const Record> records);

/// Removes columns of figures, the last ones first, until the text of the table is at most `width` wide or none is
/// left; how many were removed. Axes, and columns that say what went wrong, stay; the latter are shortened. 0: any
/// width.
int fit_width(RunTable& table, std::size_t width);

/// Axes are never left out. `columns` must be those of the records.
RunTable run_table(std::span<const Column> columns, std::span<const Record> records, std::span<const std::string> axes,
                   Detail detail);

}  // namespace gpubench
