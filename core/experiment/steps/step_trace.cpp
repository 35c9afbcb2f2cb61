#include "core/experiment/steps/step_trace.h"

#include <string_view>

namespace gpubench {
namespace {

/// A new segment runs once before it is recorded, and is recorded once for each of two input slots. Where nothing is
/// recorded, one step names the nodes.
constexpr int steps_to_record = 3, steps_to_name = 1;

/// The counted steps of a trace: those behind the first `lead`, which fill the devices.
StepMarks counted_steps(const TracedSteps& traced, int lead) {
  StepMarks counted = traced.marks();
  if (lead == 0) return counted;
  counted.begin = traced.ends[static_cast<std::size_t>(lead) - 1];
  counted.ends.assign(traced.ends.begin() + lead, traced.ends.end());
  counted.ends.back() = traced.returned;  // the wait for the devices would be a part of no other step
  return counted;
}

/// By the names that tracers give to core/backend/cuda/kernels/attention*.cu: recorded launches have no nodes.
bool is_own_attention(std::string_view kernel) {
  return kernel.find("gpubench::cuda::") != std::string_view::npos &&
         kernel.find("attention") != std::string_view::npos;
}

double own_attention_share(const Timeline& timeline, const StepMarks& counted) {
  Clock::duration time{};
  for (const TracedDevice& device : counted.devices) {
    sweep(spans_of(device, timeline.spans()), counted.window(), [&](Window part, const Span* span) {
      if (span == nullptr || span->span_class != SpanClass::compute) return;
      if (is_own_attention(timeline.text(span->name))) time += part.length();
    });
  }
  return Seconds(time) / (counted.window().length() * counted.devices.size());
}

ReplicaTrace trace_replicas(std::span<const Span> spans, const TracedSteps& traced, const StepMarks& counted) {
  const auto steps = static_cast<int>(counted.ends.size());
  ReplicaTrace trace{.exchanges = {}, .steps = steps, .step_time = Seconds(counted.window().length()) / steps};
  trace.absence = incompleteness(spans, traced.lost);
  if (!trace.absence.empty()) return trace;
  for (const TracedDevice& device : traced.devices)
    trace.exchanges.push_back(trace_exchanges(spans, device.gpu, counted.window()));
  return trace;
}

}  // namespace

StepTrace trace_steps(StepSource& steps, Runtime& runtime, Replicas* replicas, Tracer& tracer, Timeline& timeline,
                      const TraceLimits& limits) {
  StepTracer tracing(runtime, replicas, tracer, timeline, !limits.profiles);
  const bool asynchronous = uses_asynchronous_devices(runtime.devices());
  const int untimed = asynchronous ? steps_to_record : steps_to_name;
  for (int step = 0; step < untimed; ++step) steps.step();
  runtime.synchronize();
  tracing.begin();
  const auto take = [&] {
    steps.step();
    tracing.end_step(steps.fetched());
  };
  // The step behind those in flight waits for the first one from its beginning to its end, which may be longer than the
  // time from one end to the next.
  const int lead = asynchronous ? steps.steps_in_flight() + 1 : 0;
  for (int step = 0; step < lead; ++step) take();
  const Clock::time_point begin = tracing.now();
  const auto taken = [&] { return static_cast<int>(tracing.steps()) - lead; };
  const auto goes_on = [&] {
    return taken() < limits.most_steps && tracing.now() - begin < limits.time && tracing.has_room();
  };
  while (taken() < limits.least_steps || goes_on()) take();
  const TracedSteps traced = tracing.finish();
  const StepMarks counted = counted_steps(traced, lead);
  timeline.set_steps(counted);

  StepTrace trace;
  trace.steps = taken();
  trace.breakdown = break_down_each(timeline.spans(), counted.devices, counted.window(), counted.lost);
  trace.by_step = break_down_steps(timeline.spans(), counted);
  trace.copies = most_copied(timeline, counted.window());
  trace.observer_share = traced.host_spans * (cost_of_span() / Seconds(traced.window().length()));
  trace.own_attention_share = own_attention_share(timeline, counted);
  if (replicas != nullptr) trace.exchanges = traced.on_gpus ? ExchangeSource::devices : ExchangeSource::host;
  if (traced.on_gpus) trace.replicas = trace_replicas(timeline.spans(), traced, counted);
  if (limits.profiles) trace.profile = profile_steps(timeline, counted);
  return trace;
}

}  // namespace gpubench
