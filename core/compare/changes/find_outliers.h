// Single values far from those around them, which are no changes because the series came back at once.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace gpubench {

/// Indices of outliers. A value is one if it lies far from the median of its neighbours between the same two changes;
/// the last values of a series are none as long as no later one shows whether the series has come back. `changes` as
/// from find_changes().
std::vector<std::size_t> find_outliers(std::span<const double> values, std::span<const std::size_t> changes);

}  // namespace gpubench
