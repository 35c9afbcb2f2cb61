#include "core/compare/change.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>
#include <utility>

#include "core/base/split_mix.h"
#include "core/measure/stats/mann_whitney.h"
#include "core/measure/stats/quantile.h"
#include "core/results/speed_change.h"

namespace gpubench {
namespace {

/// More than this many times the processes of now are no reasonable advice.
constexpr std::size_t most_times_more = 20;
/// Quantiles of the normal distribution: of the errors of the rule, and of finding 80 and 95 %.
constexpr double interval_z = 1.960, called_z = 3.239, same_z = 2.326, most_z = 0.842, nearly_all_z = 1.645;

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

std::vector<double> logarithms_of(std::span<const double> figures) {
  std::vector<double> logs;
  for (const double one : figures) logs.push_back(std::log(one));
  return logs;
}

/// The logarithms of a side around their middle.
void add_residuals(std::span<const double> figures, std::vector<double>& residuals) {
  const std::vector<double> logs = logarithms_of(figures);
  const double middle = median(logs);
  for (const double one : logs) residuals.push_back(one - middle);
}

double standard_error(const Change& change) {
  return (change.log_ratio->interval.high - change.log_ratio->interval.low) / 2 / interval_z;
}

/// By simulation of the rule with the scatter of both sides: the change that it calls in 95 % of draws. In each draw
/// the smallest one is known: the lower end of the interval of error called_p has to rise above 0, and the shift above
/// the threshold. With many processes, both are normal. Empty where a factor of five is not called.
std::optional<double> visible_change(const Change& change) {
  constexpr std::size_t draws = 100, simulated_up_to = 50;
  constexpr double found = 0.95, largest = 5;
  if (std::min(change.processes_before, change.processes_after) > simulated_up_to) {
    const double error = standard_error(change);
    return std::expm1(std::max(called_z * error, change.threshold) + nearly_all_z * error);
  }
  std::vector<double> residuals;
  add_residuals(change.figures_before, residuals);
  add_residuals(change.figures_after, residuals);
  // Few values lie nearer to their own middle, and to each other, than what they were drawn from: by simulation
  // (simulation_test.cpp) as if two of each side were bound.
  const auto count = static_cast<double>(residuals.size());
  const double spread = std::sqrt(count / (count - 4));
  std::uint64_t counter = 0;
  const auto drawn = [&](std::size_t size) {
    std::vector<double> values;
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t bits = split_mix(++counter * split_mix_step) >> 32;
      values.push_back(spread * residuals[static_cast<std::size_t>((bits * residuals.size()) >> 32)]);
    }
    return values;
  };
  std::vector<double> needed;
  for (std::size_t i = 0; i < draws; ++i) {
    const Shift shift(drawn(change.processes_before), drawn(change.processes_after));
    needed.push_back(std::max(-shift.interval(called_p).low, change.threshold - shift.value()));
  }
  const double visible = quantile(needed, found);
  return visible < std::log(largest) ? std::optional(std::expm1(visible)) : std::nullopt;
}

/// Processes a side with which the change as it is would be called, or would be the same, in four of five times.
/// Standard errors shrink with the root of the number of processes.
std::optional<std::size_t> needed_processes(const Change& change, std::size_t fewest) {
  if (!change.log_ratio || fewest < 2 || !std::isfinite(change.log_ratio->interval.low)) return std::nullopt;
  const double error = standard_error(change);
  const double size = std::abs(change.log_ratio->value);
  for (std::size_t k = std::max(fewest + 1, least_processes); k <= most_times_more * fewest; ++k) {
    const double shrunk = error * std::sqrt(static_cast<double>(fewest) / static_cast<double>(k));
    const double limit = change.threshold;
    if (size > std::max(called_z * shrunk, limit) + most_z * shrunk) return k;
    if (size + (same_z + most_z) * shrunk < limit) return k;
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
  const bool is_significant = *change.p < called_p;
  if (!change.log_ratio) {
    const auto is_first = [&](double value) { return value == change.figures_before.front(); };
    if (is_significant) {
      change.verdict = direction_of(change);
    } else if (std::ranges::all_of(change.figures_before, is_first) &&
               std::ranges::all_of(change.figures_after, is_first)) {
      change.verdict = ChangeVerdict::same;
    } else {
      change.reason = fmt::format("p = {:.2g}, and a ratio to 0 or less has no interval", *change.p);
    }
    return;
  }
  const double limit = change.threshold;
  const bool is_beyond = std::abs(change.log_ratio->value) > limit;
  if (is_significant && is_beyond) {
    change.verdict = direction_of(change);
    return;
  }
  if (change.same_interval.low > -limit && change.same_interval.high < limit) {
    change.verdict = ChangeVerdict::same;
    return;
  }
  change.processes_needed = needed_processes(change, fewest);
  const std::string why = is_beyond ? fmt::format("p = {:.2g}, which is not below {}", *change.p, called_p)
                                    : fmt::format("a change of {:.1f} % is not excluded", 100 * limit);
  change.reason = change.processes_needed
                      ? fmt::format("{}; about {} processes a side would settle it", why, *change.processes_needed)
                      : fmt::format("{}; up to {} processes a side would not settle it", why, most_times_more * fewest);
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
  if (all_positive(before) && all_positive(after)) {
    const Shift shift(logarithms_of(change.figures_before), logarithms_of(change.figures_after));
    change.log_ratio = Estimate{shift.value(), shift.interval(interval_error)};
    change.same_interval = shift.interval(same_error);
  }
  change.noise = std::max(relative_noise(change.figures_before), relative_noise(change.figures_after));
  change.threshold = limits.threshold;
  change.calibrated = limits.false_positive_rate.has_value();
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

double Change::relative() const {
  if (log_ratio) return std::expm1(log_ratio->value);
  return before == 0 ? 0 : after / before - 1;
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
  if (change.log_ratio ? change.log_ratio->value == 0 : change.before == change.after) return "equal";
  const bool more = change.log_ratio ? change.log_ratio->value > 0 : change.after > change.before;
  if (column.unit == Unit::share) {
    const double points =
        100 * std::abs(change.log_ratio ? change.before * change.relative() : change.after - change.before);
    const char* const word = column.kind == Kind::learned && column.better == Better::higher
                                 ? (more ? "more accurate" : "less accurate")
                                 : (more ? "higher" : "lower");
    return fmt::format("{} points {}", amount_text(points), word);
  }
  if (column.unit == Unit::celsius)
    return fmt::format("{:.1f} °C {}", std::abs(change.after - change.before), more ? "hotter" : "cooler");
  if (!change.log_ratio && change.before == 0)
    return more ? "more than the baseline's 0" : "less than the baseline's 0";
  if (is_speed(column) && (change.log_ratio || (change.before > 0 && change.after > 0)))
    return speed_text(time_ratio(column, 1, 1 + change.relative()));
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
  const bool is_share = change.column.unit == Unit::share;
  const auto percent = [&](double log_ratio) {
    const double value = 100 * std::expm1(log_ratio) * (is_share ? change.before : 1);
    return (std::signbit(value) ? "" : "+") + rounded(value);
  };
  auto [low, high] = change.log_ratio->interval;
  // Of a rate, as text_of_change() has it: of the time.
  if (is_speed(change.column) && change.column.better == Better::higher) std::tie(low, high) = std::pair(-high, -low);
  return fmt::format("[{}, {}] {}", percent(low), percent(high), is_share ? "points" : "%");
}

}  // namespace gpubench
