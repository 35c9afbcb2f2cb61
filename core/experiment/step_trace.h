// The second phase of a measurement, after the timing: a few more steps under a tracer, which say where the time goes.
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
  /// At least so many, then until the time is up or the most are taken: each kernel costs memory.
  int least_steps = 3, most_steps = 50;
  Seconds time{0.2};
};

struct StepTrace {
  /// Of all traced steps together; of replicas on GPUs the mean of their GPUs, else of all devices as one.
  Breakdown breakdown;
  int steps = 0;
  /// Of the replicas, where the steps are theirs.
  std::optional<ReplicaTrace> replicas{};
};

/// Adds the host's spans, waiting for input or computing, to those of the tracer. The tracer has started, with idle
/// devices. `replicas` take the steps; nullptr without replicas. Throws what the tracer throws.
StepTrace trace_steps(StepSource& steps, Runtime& runtime, Replicas* replicas, Tracer& tracer, Timeline& timeline,
                      const TraceLimits& limits = {});

/// Sets the shares, device_busy and traced_step_time_s; of replicas not communication_share, of which their waiting for
/// each other is a part (ReplicaWatch::describe).
void set_breakdown(Record& record, const StepTrace& trace);

}  // namespace gpubench
