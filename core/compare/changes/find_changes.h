// Finds lasting changes in a series of measurements, as its values arrive: a change is reported once, with its place,
// and neither is withdrawn or moved by later values.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace gpubench {

struct Changes {
  /// The index of the first value after each change, ascending.
  std::vector<std::size_t> changes;
  /// For each change, the index of the value with which it was first reported.
  std::vector<std::size_t> alarms;
};

/// Values must be finite. Neither scale nor offset matters. Time is proportional to the length. For the first n values
/// the result is that of the whole series without the changes whose alarm is at n or later.
Changes find_changes(std::span<const double> values);

}  // namespace gpubench
