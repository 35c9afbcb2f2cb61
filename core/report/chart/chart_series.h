// How the rows of a chart fall into series, and in which order they come.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/report/chart/chart.h"
#include "core/results/column.h"
#include "core/results/record.h"

namespace gpubench {

using Rows = std::span<const Record* const>;

/// What tells the series of a chart apart, and the order in which their lines go.
struct Grouping {
  std::optional<Column> series;
  /// Axes that vary and are neither x nor the series.
  std::vector<Column> others = {};
  std::optional<Column> order = {};
};

/// Throws Error for a column that there is not.
const Column& column_named(std::string_view name, std::string_view role, std::span<const Column> columns);

/// `all`: rows that the chart is about; `drawn`: those of them with a figure.
Grouping group_rows(const ChartSpec& spec, Rows all, Rows drawn, std::span<const ChartAxis> axes,
                    std::span<const Column> columns);
std::string series_name(const Record& row, const Grouping& grouping);
SeriesSetting series_setting(const Record& row, const Grouping& grouping);
bool varies(const std::string& column, Rows rows);

/// By series, and within a series in the order of its line, or else in that of the sweep.
void sort_rows(std::vector<const Record*>& rows, const Grouping& grouping, std::span<const ChartAxis> axes);

}  // namespace gpubench
