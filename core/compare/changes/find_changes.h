// Finds lasting changes in a series of measurements, as its values arrive: a change is reported once, with its place,
// and neither is withdrawn or moved by later values.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/measure/stats/mann_whitney.h"

namespace gpubench {

struct Changes {
  /// The index of the first value after each change, ascending.
  std::vector<std::size_t> changes;
  /// For each change, the index of the value with which it was first reported.
  std::vector<std::size_t> alarms;
};

/// The numbers of the rule that were chosen: by cross-validation over families of series that people annotated, and on
/// made series (tests/truth/change_rule, docs/changes.md).
struct ChangeRule {
  /// Values compared on each side of a place.
  std::size_t window = 40;
  /// Two-sided level of one test. Each value adds about 35 tests, which depend on each other.
  double level = 5e-7;
  /// Least distance between the medians on both sides, in standard deviations of the values around them: people do not
  /// see a smaller one, however sure the test is.
  double least_in_noise = 2.3;
};

/// Finds changes by a rule of its own, whose limits it works out once.
class ChangeDetector {
 public:
  explicit ChangeDetector(const ChangeRule& rule);
  /// As find_changes().
  Changes find(std::span<const double> values) const;

 private:
  ChangeRule rule_;
  MannWhitneyLimits limits_;
};

/// Values must be finite. Neither scale nor offset matters. Time is proportional to the length. For the first n values
/// the result is that of the whole series without the changes whose alarm is at n or later.
Changes find_changes(std::span<const double> values);

}  // namespace gpubench
