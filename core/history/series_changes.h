// The detector of changes, behind one call.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace gpubench {

struct SeriesChanges {
  /// Indices of the first value at a new level, rising.
  std::vector<std::size_t> changes;
  /// For each change, the index of the value with which it was first seen. Values that come later move none of them.
  std::vector<std::size_t> alarms;
  /// Indices of single values that belong to no level.
  std::vector<std::size_t> outliers;
};

/// `values`: oldest first, as they came in.
SeriesChanges series_changes(std::span<const double> values);

}  // namespace gpubench
