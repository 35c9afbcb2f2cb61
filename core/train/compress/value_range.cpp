#include "core/train/compress/value_range.h"

#include <algorithm>
#include <cmath>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/ops/quantize.h"

namespace gpubench {
namespace {

constexpr EnumNames<RangeMethod, 3> methods{"unknown calibration method", {"max", "percentile", "mse"}};

}  // namespace

std::string_view to_string(RangeMethod method) {
  return methods[method];
}

RangeMethod parse_range_method(std::string_view name) {
  return methods.parse(name);
}

void MagnitudeHistogram::add(std::span<const float> values) {
  double largest = largest_;
  for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
  total_ += static_cast<std::int64_t>(values.size());
  if (largest == 0) {
    zeros_ += static_cast<std::int64_t>(values.size());
    return;
  }
  if (width_ == 0) {
    width_ = largest / static_cast<double>(bins - 1);
    counts_[0] = zeros_;
  }
  while (largest >= width_ * static_cast<double>(bins)) widen();
  largest_ = largest;
  const double per_width = 1 / width_;
  for (const float value : values) {
    const auto bin = static_cast<std::size_t>(std::abs(static_cast<double>(value)) * per_width);
    ++counts_[std::min(bin, bins - 1)];
  }
}

void MagnitudeHistogram::widen() {
  for (std::size_t i = 0; i < bins; ++i) {
    counts_[i] = 2 * i < bins ? counts_[2 * i] + counts_[2 * i + 1] : 0;
  }
  width_ *= 2;
}

double MagnitudeHistogram::range(RangeMethod method, double percentile) const {
  if (method == RangeMethod::max || largest_ == 0) return largest_;
  return method == RangeMethod::percentile ? percentile_range(percentile) : least_error_range();
}

double MagnitudeHistogram::percentile_range(double percentile) const {
  const double wanted = percentile / 100 * static_cast<double>(total_);
  std::int64_t below = 0;
  for (std::size_t i = 0; i < bins; ++i) {
    below += counts_[i];
    if (static_cast<double>(below) >= wanted) return std::min(static_cast<double>(i + 1) * width_, largest_);
  }
  return largest_;
}

double MagnitudeHistogram::least_error_range() const {
  constexpr int candidates = 128, first = 8;
  double best = largest_, least = error_of(largest_);
  for (int i = first; i < candidates; ++i) {
    const double range = largest_ * i / candidates, error = error_of(range);
    if (error >= least) continue;
    best = range;
    least = error;
  }
  return best;
}

double MagnitudeHistogram::error_of(double range) const {
  const double scale = range / int8_steps;
  double sum = 0;
  for (std::size_t i = 0; i < bins; ++i) {
    if (counts_[i] == 0) continue;
    const double magnitude = (static_cast<double>(i) + 0.5) * width_;
    const double saturated = std::max(0.0, magnitude - range);
    // Values spread evenly over a step err by a twelfth of its square.
    sum += static_cast<double>(counts_[i]) * (saturated > 0 ? saturated * saturated : scale * scale / 12);
  }
  return sum;
}

}  // namespace gpubench
