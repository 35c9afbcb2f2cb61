#include "core/experiment/step_trace.h"

namespace gpubench {
namespace {

/// A new segment runs once before it is recorded, and is recorded once for each of two input slots.
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

void renew_recordings(Runtime& runtime, Replicas* replicas) {
  runtime.renew_recordings();
  for (int replica = 1; replicas != nullptr && replica < replicas->size(); ++replica)
    replicas->runtime(replica).renew_recordings();
}

/// By replica; empty if one is on no GPU.
std::vector<int> gpus_of(Replicas& replicas) {
  std::vector<int> gpus;
  for (int replica = 0; replica < replicas.size(); ++replica) {
    const DeviceId& id = replicas.device(replica);
    const std::optional<int> gpu = replicas.runtime(replica).devices().device(id).tracer_index();
    if (!gpu) return {};
    gpus.push_back(*gpu);
  }
  return gpus;
}

ReplicaTrace trace_replicas(std::span<const Span> spans, const std::vector<int>& gpus, Window window, int steps,
                            std::size_t lost) {
  ReplicaTrace trace{.exchanges = {}, .steps = steps, .step_time = Seconds(window.length()) / steps};
  trace.absence = incompleteness(spans, lost);
  if (!trace.absence.empty()) return trace;
  for (const int gpu : gpus) trace.exchanges.push_back(trace_exchanges(spans, gpu, window));
  return trace;
}

}  // namespace

StepTrace trace_steps(StepSource& steps, Runtime& runtime, Replicas* replicas, Tracer& tracer, Timeline& timeline,
                      const TraceLimits& limits) {
  HostSpans host(timeline);
  renew_recordings(runtime, replicas);
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
  const std::size_t lost = tracer.stop(timeline) + timeline.dropped();
  const std::vector<int> gpus = replicas == nullptr ? std::vector<int>() : gpus_of(*replicas);
  const std::span<const Span> spans = timeline.spans();
  if (gpus.empty()) {
    trace.breakdown = break_down(spans, {begin, end}, lost);
  } else {
    trace.breakdown = break_down_each(spans, gpus, {begin, end}, lost);
    trace.replicas = trace_replicas(spans, gpus, {begin, end}, trace.steps, lost);
  }
  return trace;
}

void set_breakdown(Record& record, const StepTrace& trace) {
  const Breakdown& parts = trace.breakdown;
  record.set("compute_share", parts.share(SpanClass::compute));
  if (!trace.replicas) record.set("communication_share", parts.share(SpanClass::communication));
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
