// Fits a profile's kernel times to measured ones.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <vector>

#include "core/backend/emulated/kernel_time.h"
#include "core/base/error.h"

namespace gpubench {
namespace {

using Samples = std::vector<KernelSample>;

double mean_log_error(const Profile& profile, const Samples& samples) {
  double sum = 0;
  for (const KernelSample& one : samples) sum += std::abs(std::log(kernel_seconds(profile, one.work) / one.seconds));
  return sum / static_cast<double>(samples.size());
}

constexpr std::size_t fewest_samples = 3;

/// Changes the number by factors that become smaller, as long as that lowers the error. Returns the error.
double descend(Profile& profile, double Profile::*number, const Samples& samples) {
  constexpr double first_step = 1, last_step = 1e-4;
  double error = mean_log_error(profile, samples);
  const auto improve = [&](double factor) {
    Profile changed = profile;
    changed.*number *= factor;
    const double changed_error = mean_log_error(changed, samples);
    if (changed_error >= error) return false;
    profile = changed;
    error = changed_error;
    return true;
  };
  for (double step = first_step; step > last_step;) {
    if (!improve(std::exp(step)) && !improve(std::exp(-step))) step /= 2;
  }
  return error;
}

/// Tries `values` of one number, and fits another number for each.
void search(Profile& profile, double Profile::*tried, std::span<const double> values, double Profile::*fitted,
            const Samples& samples) {
  std::optional<double> least;
  Profile best = profile;
  for (const double value : values) {
    Profile changed = profile;
    changed.*tried = value;
    const double error = fitted == nullptr ? mean_log_error(changed, samples) : descend(changed, fitted, samples);
    if (least && error >= *least) continue;
    least = error;
    best = changed;
  }
  profile = best;
}

std::vector<double> geometric(double first, double factor, double last) {
  std::vector<double> values;
  for (double value = first; value <= last; value *= factor) values.push_back(value);
  return values;
}

Samples samples_of(std::span<const KernelSample> all, auto is_wanted) {
  Samples some;
  std::ranges::copy_if(all, std::back_inserter(some), [&](const KernelSample& one) { return is_wanted(one.work); });
  return some;
}

void check_sound(const KernelSample& one) {
  if (one.work.flops >= 0 && one.work.bytes > 0 && one.seconds > 0 && std::isfinite(one.seconds)) return;
  throw Error(fmt::format("a measured kernel needs bytes and a time above 0, got {} FLOP, {} bytes, {} s",
                          one.work.flops, one.work.bytes, one.seconds));
}

}  // namespace

Profile fit_profile(Profile start, std::span<const KernelSample> samples) {
  std::ranges::for_each(samples, check_sound);
  const Samples elements =
      samples_of(samples, [](const KernelWork& work) { return work.kind == KernelKind::elements; });
  if (elements.size() >= fewest_samples) descend(start, &Profile::memory_bytes_per_s, elements);

  const auto products_of = [&](bool half) {
    return samples_of(samples,
                      [&](const KernelWork& work) { return work.kind == KernelKind::product && work.half == half; });
  };
  const Samples products = products_of(false), half_products = products_of(true);
  std::vector<double> ramps = geometric(1e-6, 1.1, 1e-3);
  ramps.push_back(0);
  if (products.size() >= fewest_samples)
    search(start, &Profile::ramp_s, ramps, &Profile::float32_flops_per_s, products);
  if (half_products.size() >= fewest_samples) descend(start, &Profile::float16_flops_per_s, half_products);

  const Samples rows = samples_of(samples, [](const KernelWork& work) {
    return work.kind == KernelKind::softmax || work.kind == KernelKind::normalization;
  });
  if (rows.size() >= fewest_samples) search(start, &Profile::row_bytes, geometric(1e3, 1.05, 1e6), nullptr, rows);
  return start;
}

double median_error(const Profile& profile, std::span<const KernelSample> samples) {
  std::vector<double> errors;
  for (const KernelSample& one : samples)
    errors.push_back(std::abs(kernel_seconds(profile, one.work) / one.seconds - 1));
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::ranges::nth_element(errors, middle);
  return *middle;
}

}  // namespace gpubench
