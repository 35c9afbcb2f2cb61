// The magnitudes of a layer's input: a histogram over all batches, and the range for quantization. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gpubench {

enum class RangeMethod : std::uint8_t {
  max,         ///< no value saturates
  percentile,  ///< a given share of the elements, those of largest magnitude, saturates
  mse          ///< minimizes the squared error of saturation and rounding
};

/// "max", "percentile", "mse".
std::string_view to_string(RangeMethod method);
/// Throws Error listing the names.
RangeMethod parse_range_method(std::string_view name);

class MagnitudeHistogram {
 public:
  /// Values must be finite. The first call sets the bin width, which doubles when a value is too large.
  void add(std::span<const float> values);

  double largest() const { return largest_; }
  /// The magnitude that maps to 127. `percentile`: percentage of the magnitudes below it. 0 if all values were zero.
  double range(RangeMethod method, double percentile) const;

 private:
  static constexpr std::size_t bins = 2048;

  void widen();
  double percentile_range(double percentile) const;
  double least_error_range() const;
  double error_of(double range) const;

  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(bins);
  double width_ = 0;  ///< of a bin; 0 before the first non-zero value
  double largest_ = 0;
  std::int64_t zeros_ = 0;  ///< before the first non-zero value
  std::int64_t total_ = 0;
};

}  // namespace gpubench
