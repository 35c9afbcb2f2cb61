// A sampler's readings of one probe, row by row in memory reserved in advance, with their means and sums. A NaN reading
// was not taken: statistics use the other readings, and are NaN if there are none.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/clock.h"

namespace gpubench {

class Readings {
 public:
  /// `columns` must outlive it, as a probe's columns do.
  Readings(std::span<const std::string_view> columns, std::size_t capacity);

  void clear() { times_.clear(), values_.clear(); }
  /// Adds a row to fill. Does not allocate within the capacity.
  std::span<double> add(Clock::time_point time);

  std::size_t size() const { return times_.size(); }
  /// From the first reading to the last.
  Seconds duration() const;

  /// Whether the probe has the column. Statistics of other columns are NaN.
  bool has(std::string_view column) const;
  /// By the trapezoidal rule, for momentary values: watts, clocks.
  double mean(std::string_view column) const;
  double integral(std::string_view column) const;
  /// For shares and rates, each of which covers the time since the previous reading.
  double mean_of_intervals(std::string_view column) const;
  /// For amounts since the previous reading; NaN if one is missing. The first reading covers the time before the start
  /// and does not count.
  double total(std::string_view column) const;
  double highest(std::string_view column) const;
  double lowest(std::string_view column) const;
  /// For flags: the union of all readings' bits.
  std::uint64_t any_bit(std::string_view column) const;

 private:
  /// The column's index; the number of columns if there is none.
  std::size_t place(std::string_view column) const;
  double at(std::size_t row, std::size_t column) const;
  double seconds_between(std::size_t first, std::size_t last) const;
  template <class Take>
  void for_each_known(std::string_view column, const Take& take) const;

  std::span<const std::string_view> columns_;
  std::vector<Clock::time_point> times_;
  std::vector<double> values_;
};

}  // namespace gpubench
