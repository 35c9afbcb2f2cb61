#include "core/experiment/step_trace.h"

namespace gpubench {
namespace {

/// A fresh segment runs once before it is recorded, and is recorded for each of two input slots.
constexpr int steps_to_record = 3;

class HostSpans {
 public:
  explicit HostSpans(Timeline& timeline) : timeline_(timeline), lane_(timeline.name("step loop")) {}

  void add(SpanClass span_class, Clock::time_point begin, Clock::time_point end) {
    Span span;
    span.span_class = span_class;
    span.name = timeline_.name(to_string(span_class));
    span.lane = lane_;
    span.begin = begin;
    span.end = end;
    timeline_.add(span);
  }

 private:
  Timeline& timeline_;
  NameId lane_;
};

}  // namespace

StepTrace trace_steps(StepSource& steps, Runtime& runtime, Tracer& tracer, Timeline& timeline,
                      const TraceLimits& limits) {
  HostSpans host(timeline);
  runtime.renew_recordings();
  for (int step = 0; step < steps_to_record; ++step) steps.step();
  runtime.synchronize();
  StepTrace trace;
  const Clock::time_point begin = Clock::now();
  Clock::time_point now = begin;
  while (trace.steps < limits.least_steps || (trace.steps < limits.most_steps && now - begin < limits.time)) {
    steps.step();
    host.add(SpanClass::input_wait, now, steps.fetched());
    const Clock::time_point end = Clock::now();
    host.add(SpanClass::host_compute, steps.fetched(), end);
    now = end;
    ++trace.steps;
  }
  runtime.synchronize();
  const Clock::time_point end = Clock::now();
  host.add(SpanClass::host_sync, now, end);
  const std::size_t lost = tracer.stop(timeline);
  trace.breakdown = break_down(timeline.spans(), {begin, end}, lost + timeline.dropped());
  return trace;
}

void set_breakdown(Record& record, const StepTrace& trace) {
  const Breakdown& parts = trace.breakdown;
  record.set("compute_share", parts.share(SpanClass::compute));
  record.set("communication_share", parts.share(SpanClass::communication));
  record.set("copy_share", parts.share(SpanClass::copy) + parts.share(SpanClass::memset));
  record.set("input_wait_share", parts.share(SpanClass::input_wait));
  record.set("launch_share", parts.share(SpanClass::launch));
  record.set("host_share", parts.share(SpanClass::host_sync) + parts.share(SpanClass::host_compute) +
                               parts.share(SpanClass::compile));
  record.set("other_share", parts.share(SpanClass::other));
  record.set("device_busy", parts.device_busy());
  record.set("traced_step_time_s", Seconds(parts.window.length()).count() / trace.steps);
}

}  // namespace gpubench
