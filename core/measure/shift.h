// The shift between two samples, by ranks: an outlier does not move it far, and its intervals hold for samples of any
// one distribution, be it skewed or of two states.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/measure/estimate.h"

namespace gpubench {

/// The figures of one process, at least one. The process is the unit of a comparison: figures of one process share its
/// memory layout, its clock and its neighbours, so more of them narrow nothing between processes.
using ProcessFigures = std::vector<double>;

/// The median of each process.
std::vector<double> medians_of(std::span<const ProcessFigures> processes);

/// Of `b` against `a`, where b is a moved by a constant: of logarithms of times, the logarithm of a ratio.
class Shift {
 public:
  /// Neither is empty; all values are finite.
  Shift(std::vector<double> a, std::vector<double> b);

  /// The median of all differences of a value of b and one of a (Hodges and Lehmann 1963, "Estimates of location based
  /// on rank tests").
  double value() const;
  /// The shifts that the two-sided Mann-Whitney test does not refuse with p < `level`: covers the true one in at least
  /// 1 - level. Infinite if samples of these sizes never get below the level.
  Interval interval(double level) const;

 private:
  /// Number `k`, from 0, of the differences in ascending order.
  double difference(std::size_t k) const;

  std::vector<double> a_, b_;  // ascending
};

}  // namespace gpubench
