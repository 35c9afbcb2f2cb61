#include "core/results/step_classes.h"

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

}  // namespace

void set_breakdown(Record& record, const Breakdown& parts, int steps, ExchangeSource exchanges) {
  for (const StepClass& one : step_classes) {
    if (!is_known(one.first, exchanges)) continue;
    double share = 0;
    for (std::size_t i = place_of(one.first); i <= place_of(one.last); ++i)
      share += parts.share(static_cast<SpanClass>(i));
    record.set(one.column, share);
  }
  record.set("device_busy", parts.device_busy());
  record.set("small_kernel_share", parts.small_kernel_share());
  record.set("traced_step_time_s", Seconds(parts.window.length()).count() / steps);
}

}  // namespace gpubench
