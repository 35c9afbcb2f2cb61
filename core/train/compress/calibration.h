// Calibration of a model for quantization: the ranges of its layers' inputs while it predicts a calibration set.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/dataset.h"
#include "core/exec/runtime.h"
#include "core/nn/model.h"

namespace gpubench {

enum class RangeMethod : std::uint8_t {
  max,         ///< no value saturates
  percentile,  ///< a given share of the elements, those of largest magnitude, saturates
  mse          ///< minimizes the squared error of saturation and rounding
};

/// "max", "percentile", "mse".
/// Throws Error listing the names.
RangeMethod parse_range_method(std::string_view name);

/// The magnitudes of a layer's input over all batches.
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

struct CalibrationOptions {
  /// Batches; labels are ignored. Do not use the test set, because its accuracy would be too good.
  DatasetPtr dataset;
  /// Number of batches to use; none: all.
  std::optional<std::int64_t> batches;
  RangeMethod method = RangeMethod::max;
  double percentile = 99.99;
};

/// Throws Error for a percentile outside (0, 100] and for fewer than one batch.
void check(const CalibrationOptions& options);

/// For each of `layers`, by name, the range of its inputs over all its calls. Throws Error for an empty or infinite
/// dataset, for elements on a device, and for a layer whose input is not finite or only zeros, naming it.
std::map<std::string, float> calibrate(Runtime& runtime, const Model& model, const std::set<std::string>& layers,
                                       const CalibrationOptions& options);

}  // namespace gpubench
