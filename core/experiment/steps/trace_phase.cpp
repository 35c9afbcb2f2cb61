#include "core/experiment/steps/trace_phase.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "core/base/error.h"
#include "core/results/host_cause.h"
#include "core/telemetry/nvtx.h"

namespace gpubench {
namespace {

constexpr std::size_t most_traced_spans = 200'000;
constexpr double most_of_budget = 0.1;
/// A profile has many figures, and so needs more steps.
constexpr int profiled_steps = 6;
/// Steps that processes take together.
constexpr int common_steps = 20;

/// Replaces a missing tracer, because other processes rely on this process to take the traced steps too.
class BlindTracer final : public Tracer {
 public:
  void start() override {}
  std::size_t stop(Timeline&) override { return 0; }
};

/// Gives input_wait `wait_share` of the time, and divides the rest among the other classes as before.
Breakdown with_wait(Breakdown parts, double wait_share) {
  const double traced = parts.share(SpanClass::input_wait);
  if (traced >= 1) return parts;
  const auto scaled = [&](Clock::duration part) {
    return std::chrono::duration_cast<Clock::duration>(Seconds(part) * ((1 - wait_share) / (1 - traced)));
  };
  Clock::duration rest = parts.window.length() * parts.devices;
  for (Clock::duration& part : parts.charged) rest -= part = scaled(part);
  parts.in_small_kernels = scaled(parts.in_small_kernels);
  Clock::duration& wait = parts.charged[static_cast<std::size_t>(SpanClass::input_wait)];
  wait += rest;
  return parts;
}

/// The tracer of a GPU that is lost fails with an error of its own, which says nothing of the GPU.
void throw_if_lost(Runtime& runtime) {
  try {
    runtime.synchronize();
  } catch (const DeviceLost& lost) {
    throw DeviceLost("tracing", "a step", lost.what());
  } catch (const DeviceError&) {
    return;
  }
}

}  // namespace

std::unique_ptr<Tracer> TracePhase::started_tracer(const Runtime& runtime, Replicas* replicas) {
  try {
    require_untraced(runtime, replicas);
    std::unique_ptr<Tracer> tracer = wishes_.new_tracer(runtime.devices());
    tracer->start();
    return tracer;
  } catch (const DeviceLost&) {
    throw;
  } catch (const Error& error) {
    if (wishes_.keep_timeline || wishes_.profiles) throw;
    absence_ = error.what();
    return std::make_unique<BlindTracer>();
  }
}

void TracePhase::run(StepSource& steps, Runtime& runtime, Replicas* replicas) {
  if (!wishes_.new_tracer) return;
  const NvtxRange range("trace");
  runtime.synchronize();
  const std::unique_ptr<Tracer> tracer = started_tracer(runtime, replicas);
  if (!absence_.empty() && !together_) return;
  asynchronous_ = uses_asynchronous_devices(runtime.devices());
  TraceLimits limits;
  limits.profiles = wishes_.profiles;
  if (wishes_.profiles)
    limits.least_steps = profiled_steps;
  else
    limits.time = std::min(limits.time, most_of_budget * budget_);
  // Spans of devices cost their tracer memory and time; those of host threads do not.
  if (!asynchronous_) limits.most_steps = std::numeric_limits<int>::max();
  if (together_) limits.least_steps = limits.most_steps = common_steps;
  const auto timeline = std::make_shared<Timeline>(most_traced_spans);
  try {
    StepTrace trace = trace_steps(steps, runtime, replicas, *tracer, *timeline, limits);
    if (absence_.empty()) trace_ = std::move(trace);
  } catch (const DeviceLost& lost) {
    throw DeviceLost("tracing", "a step", lost.what());
  } catch (const DeviceError&) {
    throw_if_lost(runtime);
    throw;
  }
  if (wishes_.keep_timeline) timeline_ = timeline;
}

void TracePhase::describe(Record& record, double step_time, std::optional<double> wait_share) const {
  if (!trace_) return;
  const Breakdown& parts = trace_->breakdown;
  const bool timed = wait_share && !asynchronous_;
  set_breakdown(record, timed ? with_wait(parts, *wait_share) : parts, trace_->steps, trace_->exchanges);
  set_share_intervals(record, trace_->by_step, trace_->exchanges);
  if (trace_->copies && trace_->copies->path != CopyPath::unknown) {
    const double count = static_cast<double>(trace_->copies->count) / trace_->steps / parts.devices;
    record.set("copy_cause", fmt::format("copies {}, {:.3g} a step", to_string(trace_->copies->path), count));
    record.set("copy_cause_kind", std::string(to_string(usual_cause(trace_->copies->path))));
  }
  if (trace_->own_attention_share > 0) record.set("own_attention_share", trace_->own_attention_share);
  double observed = trace_->observer_share;
  // A tracer of devices slows them too. Both windows begin and end with steps in flight.
  if (asynchronous_)
    observed = std::max(observed, 1 - step_time * trace_->steps / Seconds(parts.window.length()).count());
  record.set("observer_share", observed);
}

Doubt TracePhase::doubt() const {
  if (!trace_ || trace_->breakdown.doubt.empty()) return {};
  return {DoubtKind::trace, trace_->breakdown.doubt};
}

ReplicaTrace TracePhase::replica_trace() const {
  if (trace_ && trace_->replicas) return *trace_->replicas;
  ReplicaTrace nothing;
  nothing.absence = absence_.empty() ? "no tracer sees the replicas' devices" : absence_;
  return nothing;
}

}  // namespace gpubench
