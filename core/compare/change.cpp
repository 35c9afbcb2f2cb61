#include "core/compare/change.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>
#include <utility>

#include "core/measure/stats/false_discovery.h"
#include "core/measure/stats/mann_whitney.h"
#include "core/measure/stats/quantile.h"
#include "core/results/speed_change.h"

namespace gpubench {
namespace {

/// More than this many times the processes of now are no reasonable advice.
constexpr std::size_t most_times_more = 20;
/// Quantiles of the normal distribution: 97.5 % of the interval and 95 % of the power.
constexpr double interval_z = 1.960, power_z = 1.645;

bool all_equal(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

bool all_positive(std::span<const ProcessFigures> processes) {
  return std::ranges::all_of(
      processes, [](const ProcessFigures& one) { return std::ranges::all_of(one, [](double x) { return x > 0; }); });
}

double relative_noise(std::span<const double> medians) {
  const double middle = median(medians);
  return middle > 0 ? (quantile(medians, 0.75) - quantile(medians, 0.25)) / middle : 0;
}

double threshold_of(double noise, std::size_t processes, const ChangeLimits& limits) {
  if (limits.calibrated) return limits.threshold;
  return std::max(limits.threshold, 2.5 * noise / std::sqrt(static_cast<double>(processes)));
}

/// The smallest shift of the sides' own scatter at which the test calls them different: outliers among few processes
/// hide more than intervals show. Empty if none up to a factor of five does.
std::optional<double> separating_change(const Change& change) {
  constexpr double largest = 4, precision = 1e-3;
  std::vector<double> before = change.figures_before, after = change.figures_after;
  for (double& one : before) one /= change.before;
  for (double& one : after) one /= change.after;
  const auto separates = [&](double shift) {
    std::vector<double> shifted = after;
    for (double& one : shifted) one *= 1 + shift;
    return mann_whitney_p(before, shifted) < called_p;
  };
  if (!separates(largest)) return std::nullopt;
  double low = 0, high = largest;
  while (high - low > precision) {
    const double middle = (low + high) / 2;
    (separates(middle) ? high : low) = middle;
  }
  return high;
}

/// By simulation a change of this size is found in 95 % where the noise is like normal noise: the interval has to lie
/// beyond the threshold, both of which vary from sample to sample.
std::optional<double> visible_change(const Change& change) {
  constexpr double sample_to_sample = 1.1;
  const std::optional<double> separating = separating_change(change);
  if (!separating) return std::nullopt;
  const double half = (change.log_ratio->interval.high - change.log_ratio->interval.low) / 2;
  const double shown = change.threshold + half * (1 + power_z / interval_z) * sample_to_sample;
  return std::max(std::expm1(shown), *separating);
}

struct Outlook {
  double value, half_width, threshold;
  bool settles() const { return std::abs(value) + half_width < threshold || std::abs(value) - half_width > threshold; }
};

/// Interval and threshold shrink with the root of the number of processes.
std::optional<std::size_t> needed_processes(const Change& change, std::size_t fewest) {
  if (!change.log_ratio || fewest < 2) return std::nullopt;
  const double half = (change.log_ratio->interval.high - change.log_ratio->interval.low) / 2;
  const ChangeLimits limits{.threshold = change.calibrated ? change.threshold : ChangeLimits{}.threshold,
                            .calibrated = change.calibrated};
  for (std::size_t k = std::max(fewest + 1, least_processes); k <= most_times_more * fewest; ++k) {
    const double shrunk = half * std::sqrt(static_cast<double>(fewest) / static_cast<double>(k));
    if (Outlook{change.log_ratio->value, shrunk, threshold_of(change.noise, k, limits)}.settles()) return k;
  }
  return std::nullopt;
}

ChangeVerdict direction_of(const Change& change) {
  const bool more = change.log_ratio ? change.log_ratio->value > 0 : change.after > change.before;
  if (change.column.better == Better::neither) return ChangeVerdict::changed;
  return more == (change.column.better == Better::lower) ? ChangeVerdict::worse : ChangeVerdict::better;
}

bool is_speed(const Column& column) {
  if (column.kind != Kind::time) return false;
  switch (column.unit) {
    case Unit::seconds:
    case Unit::per_second:
    case Unit::flops_per_second:
    case Unit::bytes_per_second:
      return column.better != Better::neither;
    default:
      return false;
  }
}

bool is_amount(const Column& column) {
  return column.unit == Unit::bytes || column.unit == Unit::watts || column.unit == Unit::joules;
}

void judge_by_statistics(Change& change) {
  const std::size_t fewest = std::min(change.processes_before, change.processes_after);
  change.processes_needed = std::nullopt;
  change.verdict = ChangeVerdict::ambiguous;
  if (fewest < least_processes) {
    change.processes_needed = least_processes;
    change.reason = fmt::format("insufficient data: {} and {} processes; {} a side are needed, so {} more runs",
                                change.processes_before, change.processes_after, least_processes,
                                2 * least_processes - std::min(change.processes_before, least_processes) -
                                    std::min(change.processes_after, least_processes));
    return;
  }
  const bool significant = *change.p < called_p || change.false_discovery_rate < called_rate;
  if (!change.log_ratio) {
    if (significant) {
      change.verdict = direction_of(change);
    } else if (change.before == change.after) {
      change.verdict = ChangeVerdict::same;
    } else {
      change.reason = fmt::format("p = {:.2g}, and a ratio to 0 or less has no interval", *change.p);
    }
    return;
  }
  const Interval& interval = change.log_ratio->interval;
  const double e = change.threshold;
  if ((interval.low > e || interval.high < -e) && significant) {
    change.verdict = direction_of(change);
  } else if (interval.low > -e && interval.high < e) {
    change.verdict = ChangeVerdict::same;
  } else {
    change.processes_needed = needed_processes(change, fewest);
    const bool beyond = interval.low > e || interval.high < -e;
    const std::string why = beyond ? fmt::format("p = {:.2g}, which is not below {}", *change.p, called_p)
                                   : fmt::format("the interval crosses the threshold of {:.1f} %", 100 * e);
    change.reason =
        change.processes_needed
            ? fmt::format("{}; about {} processes a side would settle it", why, *change.processes_needed)
            : fmt::format("{}; up to {} processes a side would not settle it", why, most_times_more * fewest);
  }
}

/// A number of percent with one digit behind the point, where it is not large.
std::string rounded(double percent) {
  constexpr double large = 1e6;
  return std::abs(percent) < large ? fmt::format("{:.1f}", percent) : fmt::format("{:.3g}", percent);
}

}  // namespace

Change measure_change(const Column& column, std::span<const ProcessFigures> before,
                      std::span<const ProcessFigures> after, const ChangeLimits& limits) {
  Change change{.column = column};
  change.figures_before = medians_of(before);
  change.figures_after = medians_of(after);
  change.before = median(change.figures_before);
  change.after = median(change.figures_after);
  change.processes_before = before.size();
  change.processes_after = after.size();
  change.exact = column.kind == Kind::counted && all_equal(change.figures_before) && all_equal(change.figures_after);
  if (change.exact) return change;
  const std::size_t fewest = std::min(before.size(), after.size());
  if (all_positive(before) && all_positive(after)) change.log_ratio = estimate_log_ratio(before, after);
  change.noise = std::max(relative_noise(change.figures_before), relative_noise(change.figures_after));
  change.threshold = threshold_of(change.noise, fewest, limits);
  change.calibrated = limits.calibrated;
  change.p = mann_whitney_p(change.figures_before, change.figures_after);
  if (fewest < least_processes) return change;
  change.false_positive_rate =
      limits.false_positive_rate.value_or(attained_level(before.size(), after.size(), called_p));
  if (change.log_ratio) change.visible = limits.visible ? limits.visible : visible_change(change);
  return change;
}

void judge_change(Change& change) {
  if (change.verdict == ChangeVerdict::invalid || change.verdict == ChangeVerdict::vanished) return;
  if (change.processes_without_number > 0) {
    change.verdict = ChangeVerdict::worse;
    return;
  }
  if (!change.exact) return judge_by_statistics(change);
  change.verdict = change.before == change.after ? ChangeVerdict::same : direction_of(change);
}

std::string_view word_of(ChangeVerdict verdict, const Column& column) {
  switch (verdict) {
    case ChangeVerdict::worse:
      return is_speed(column) ? "SLOWER" : is_amount(column) && column.better == Better::lower ? "MORE" : "WORSE";
    case ChangeVerdict::better:
      return is_speed(column) ? "FASTER" : is_amount(column) && column.better == Better::lower ? "LESS" : "BETTER";
    case ChangeVerdict::changed:
      return "CHANGED";
    case ChangeVerdict::same:
      return "SAME";
    case ChangeVerdict::ambiguous:
      return "AMBIGUOUS";
    case ChangeVerdict::invalid:
      return "INVALID";
    case ChangeVerdict::vanished:
      return "VANISHED";
  }
  return {};
}

std::string format_percent(double share) {
  return rounded(100 * share) + " %";
}

std::string text_of_change(const Change& change) {
  const Column& column = change.column;
  if (change.processes_without_number > 0) {
    return fmt::format("NaN or infinite in {} of {} processes", change.processes_without_number,
                       change.processes_without_number + change.processes_after);
  }
  if (change.before == change.after) return "equal";
  const bool more = change.after > change.before;
  if (column.unit == Unit::share) {
    const double points = 100 * std::abs(change.after - change.before);
    const char* const word = column.kind == Kind::learned && column.better == Better::higher
                                 ? (more ? "more accurate" : "less accurate")
                                 : (more ? "higher" : "lower");
    return fmt::format("{} points {}", amount_text(points), word);
  }
  if (column.unit == Unit::celsius)
    return fmt::format("{:.1f} °C {}", std::abs(change.after - change.before), more ? "hotter" : "cooler");
  if (change.before == 0) return more ? "more than the baseline's 0" : "less than the baseline's 0";
  if (is_speed(column) && change.before > 0 && change.after > 0)
    return speed_text(time_ratio(column, change.before, change.after));
  const double percent = 100 * std::abs(change.relative());
  const std::string amount = amount_text(percent) + " %";
  const char* const word = more ? "more" : "less";
  if (column.kind == Kind::memory) return fmt::format("takes {} {} memory", amount, word);
  switch (column.unit) {
    case Unit::bytes:
      return fmt::format("{} {} bytes", amount, word);
    case Unit::watts:
      return fmt::format("draws {} {} power", amount, word);
    case Unit::joules:
      return fmt::format("takes {} {} energy", amount, word);
    case Unit::flops:
      return fmt::format("{} {} arithmetic", amount, word);
    default:
      return fmt::format("{} {}", amount, more ? "higher" : "lower");
  }
}

std::string interval_text(const Change& change) {
  if (change.processes_without_number > 0) return {};
  if (!change.log_ratio || !std::isfinite(change.log_ratio->interval.low)) return {};
  const auto percent = [](double log_ratio) {
    const double value = 100 * std::expm1(log_ratio);
    return (std::signbit(value) ? "" : "+") + rounded(value);
  };
  auto [low, high] = change.log_ratio->interval;
  // Of a rate, as text_of_change() has it: of the time.
  if (is_speed(change.column) && change.column.better == Better::higher) std::tie(low, high) = std::pair(-high, -low);
  return fmt::format("[{}, {}] %", percent(low), percent(high));
}

}  // namespace gpubench
