// How large the values are that a layer is given: a histogram of magnitudes over all batches, and the range that their
// quantization is to cover. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gpubench {

enum class RangeMethod : std::uint8_t {
  max,         ///< nothing saturates
  percentile,  ///< a given share of the elements, the largest magnitudes, saturates
  mse          ///< what saturation and rounding cost together is least, by the squares
};

/// "max", "percentile", "mse".
std::string_view to_string(RangeMethod method);
/// Throws Error listing the names.
RangeMethod parse_range_method(std::string_view name);

class MagnitudeHistogram {
 public:
  /// All finite. The first call sets the width of the bins, which doubles whenever a larger value comes.
  void add(std::span<const float> values);

  double largest() const { return largest_; }
  /// The magnitude that is to become 127. `percentile`: of the magnitudes that stay below it. 0 when there was nothing
  /// but zeros.
  double range(RangeMethod method, double percentile) const;

 private:
  static constexpr std::size_t bins = 2048;

  void widen();
  double percentile_range(double percentile) const;
  double least_error_range() const;
  double error_of(double range) const;

  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(bins);
  double width_ = 0;  ///< of a bin; 0 before the first value that is not 0
  double largest_ = 0;
  std::int64_t zeros_ = 0;  ///< before the first that is not
  std::int64_t total_ = 0;
};

}  // namespace gpubench
