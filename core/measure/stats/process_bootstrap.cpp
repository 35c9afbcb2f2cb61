#include "core/measure/stats/process_bootstrap.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/split_mix.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

constexpr std::size_t process_resamples = 2000;
constexpr double unknown = std::numeric_limits<double>::infinity();

/// A draw is a function of seed and counter, as everywhere.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(split_mix(seed)) {}
  std::size_t below(std::size_t count) {
    const std::uint64_t bits = split_mix(seed_ + ++counter_ * split_mix_step) >> 32;
    return static_cast<std::size_t>((bits * count) >> 32);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

/// The 97.5 % quantile of Student's t over that of the normal distribution, by the expansion of Cornish and Fisher, and
/// the n - 1 of a variance.
double widening_of(std::size_t processes) {
  const auto degrees = static_cast<double>(processes - 1);
  constexpr double z = 1.959964;
  const double first = (std::pow(z, 3) + z) / (4 * degrees);
  const double second = (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * degrees * degrees);
  return (z + first + second) / z * std::sqrt(static_cast<double>(processes) / degrees);
}

class Side {
 public:
  explicit Side(std::span<const ProcessFigures> processes) : processes_(processes), medians_(medians_of(processes)) {}
  double median_of_all() const { return median(medians_); }
  double draw(Draws& draws) {
    drawn_.clear();
    for (std::size_t i = 0; i < processes_.size(); ++i)
      drawn_.push_back(figure_of(draws.below(processes_.size()), draws));
    return median_in_place(drawn_);
  }

 private:
  double figure_of(std::size_t process, Draws& draws) {
    const ProcessFigures& figures = processes_[process];
    if (figures.size() == 1) return figures.front();
    inside_.clear();
    for (std::size_t i = 0; i < figures.size(); ++i) inside_.push_back(figures[draws.below(figures.size())]);
    return median_in_place(inside_);
  }

  std::span<const ProcessFigures> processes_;
  std::vector<double> medians_, drawn_, inside_;
};

}  // namespace

std::vector<double> medians_of(std::span<const ProcessFigures> processes) {
  std::vector<double> medians;
  for (const ProcessFigures& one : processes) medians.push_back(median(one));
  return medians;
}

Estimate estimate_log_ratio(std::span<const ProcessFigures> before, std::span<const ProcessFigures> after,
                            std::uint64_t seed) {
  if (before.empty() || after.empty()) return {0, {-unknown, unknown}};
  Side old_side(before), new_side(after);
  const double value = std::log(new_side.median_of_all() / old_side.median_of_all());
  const std::size_t fewest = std::min(before.size(), after.size());
  if (fewest < 2) return {value, {-unknown, unknown}};
  Draws draws(seed);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < process_resamples; ++i)
    ratios.push_back(std::log(new_side.draw(draws) / old_side.draw(draws)));
  std::ranges::sort(ratios);
  const double widening = widening_of(fewest);
  const auto widened = [&](double p) { return value + (sorted_quantile(ratios, p) - value) * widening; };
  return {value, {std::min(value, widened(0.025)), std::max(value, widened(0.975))}};
}

}  // namespace gpubench
