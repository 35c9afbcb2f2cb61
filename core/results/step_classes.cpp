#include "core/results/step_classes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/measure/estimate.h"
#include "core/results/column.h"

namespace gpubench {
namespace {

constexpr std::size_t place_of(SpanClass span_class) {
  return static_cast<std::size_t>(span_class);
}

/// Whether each class of spans is in exactly one class of the step.
constexpr bool divides_all() {
  std::size_t next = 0;
  for (const StepClass& one : step_classes) {
    if (place_of(one.first) != next || place_of(one.last) < next) return false;
    next = place_of(one.last) + 1;
  }
  return next == span_class_count;
}
static_assert(divides_all());

bool is_known(SpanClass span_class, ExchangeSource exchanges) {
  if (span_class == SpanClass::communication) return exchanges != ExchangeSource::devices;
  return span_class != SpanClass::peer_wait || exchanges == ExchangeSource::host;
}

/// Seconds, as the mean over devices.
double charged_to(const StepClass& step_class, const Breakdown& parts) {
  Clock::duration sum{};
  for (std::size_t i = place_of(step_class.first); i <= place_of(step_class.last); ++i) sum += parts.charged[i];
  return Seconds(sum).count() / parts.devices;
}

/// The share of all steps together, which differ in length: the linearized ratio of two means.
Estimate share_of(const StepClass& step_class, std::span<const Breakdown> steps) {
  std::vector<double> own, lengths;
  for (const Breakdown& one : steps) {
    own.push_back(charged_to(step_class, one));
    lengths.push_back(Seconds(one.window.length()).count());
  }
  const double length = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  const double share = std::accumulate(own.begin(), own.end(), 0.0) / length;
  const double mean_length = length / static_cast<double>(steps.size());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = share + (own[i] - share * lengths[i]) / mean_length;
  Estimate estimate = estimate_mean(own);
  estimate.value = share;
  return estimate;
}

}  // namespace

void set_breakdown(Record& record, const Breakdown& parts, int steps, ExchangeSource exchanges) {
  for (const StepClass& one : step_classes) {
    if (!is_known(one.first, exchanges)) continue;
    record.set(one.column, charged_to(one, parts) / Seconds(parts.window.length()).count());
  }
  record.set("device_busy", parts.device_busy());
  record.set("small_kernel_share", parts.small_kernel_share());
  record.set("traced_step_time_s", Seconds(parts.window.length()).count() / steps);
}

void set_share_intervals(Record& record, std::span<const Breakdown> steps, ExchangeSource exchanges) {
  for (const StepClass& one : step_classes) {
    const std::optional<double> own = number_in(record.get(one.column));
    if (!own || steps.empty() || !is_known(one.first, exchanges)) continue;
    const Estimate traced = share_of(one, steps);
    if (!(traced.value > 0) || !std::isfinite(traced.interval.high)) continue;
    const Column column = column_of(one.column);
    const double scale = *own / traced.value;
    record.set(interval_end(column, "low"), std::clamp(traced.interval.low * scale, 0.0, 1.0));
    record.set(interval_end(column, "high"), std::clamp(traced.interval.high * scale, 0.0, 1.0));
  }
}

}  // namespace gpubench
