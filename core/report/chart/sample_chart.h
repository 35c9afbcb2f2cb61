// Charts of single steps, whose figures are in samples.csv and not in the rows: how the times of a point's steps are
// distributed, and how they went on. They are drawn as lines, from rows that are made here.
#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <vector>

#include "core/report/chart/chart.h"

namespace gpubench {

/// Seconds of the steps of process 0, of all rounds in their order, by point. Empty for a run without samples.csv.
using SamplesByPoint = std::map<std::int64_t, std::vector<double>>;
SamplesByPoint read_samples(const std::filesystem::path& directory);

/// Rows of a chart, and the columns that they have.
struct SampleRows {
  std::vector<Column> columns;
  std::vector<Record> records;
};

/// For a distribution: quantiles, with the share of the steps that took as long at most. For a course: steps, or the
/// medians of neighbouring ones where there are many. Sets x and y of the spec.
SampleRows sample_rows(ChartSpec& spec, const SamplesByPoint& samples, std::span<const Column> columns,
                       std::span<const Record> records, std::span<const ChartAxis> axes);

}  // namespace gpubench
