// The second phase of a measurement, after the timing: a few more steps under a tracer, which show where the time goes.
#pragma once
#include <optional>

#include "core/exec/replicas.h"
#include "core/experiment/replica_watch.h"
#include "core/experiment/step_source.h"
#include "core/results/record.h"
#include "core/telemetry/breakdown.h"
#include "core/telemetry/timeline.h"

namespace gpubench {

struct TraceLimits {
  /// At least `least_steps`, then until `time` has passed or `most_steps` are reached, because each kernel costs
  /// memory.
  int least_steps = 3, most_steps = 50;
  Seconds time{0.2};
};

struct StepTrace {
  /// Over all traced steps: of replicas on GPUs the mean of their GPUs, else all devices as one.
  Breakdown breakdown;
  int steps = 0;
  /// Only for steps of replicas.
  std::optional<ReplicaTrace> replicas{};
};

/// Adds the host spans (waiting for input, computing) to those of the tracer. The tracer must have started while
/// devices were idle. `replicas` take the steps; nullptr without replicas. Throws as the tracer does.
StepTrace trace_steps(StepSource& steps, Runtime& runtime, Replicas* replicas, Tracer& tracer, Timeline& timeline,
                      const TraceLimits& limits = {});

/// Sets the shares, device_busy and traced_step_time_s. Not communication_share of replicas, which includes their waits
/// for each other (ReplicaWatch::describe).
void set_breakdown(Record& record, const StepTrace& trace);

}  // namespace gpubench
