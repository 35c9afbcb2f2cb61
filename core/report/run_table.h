// Rows as people read them: units scaled, the interval beside its median, columns that say nothing left out.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/report/table.h"
#include "core/results/column.h"
#include "core/results/record.h"

namespace gpubench {

/// "45.2 µs", "12.3 k", "87.5 %": the unit's prefix is in the cell, "per second" in the heading.
std::string format_cell(const Cell& cell, Unit unit);
/// The name in words: "examples/s", "step time", "peak memory".
std::string heading_of(const Column& column);

/// A setting that all rows share which have one.
struct CommonValue {
  std::string heading;
  std::string text;
};

struct RunTable {
  Table table;
  /// Left out of the table because they are the same in all of two or more rows.
  std::vector<CommonValue> common;
};

enum class Detail {
  /// What fits a terminal: axes, figures, and what went wrong.
  brief,
  /// Every column that has a value.
  full
};

/// Axes are never left out. Columns must be those of the records.
RunTable run_table(std::span<const Column> columns, std::span<const Record> records, std::span<const std::string> axes,
                   Detail detail);

}  // namespace gpubench
