// The second phase of a measurement, after the timing: a few more steps under a tracer, which say where the time goes.
#pragma once
#include "core/exec/runtime.h"
#include "core/experiment/step_source.h"
#include "core/results/record.h"
#include "core/telemetry/breakdown.h"
#include "core/telemetry/tracer.h"

namespace gpubench {

struct TraceLimits {
  /// At least so many, then until the time is up or the most are taken: each kernel costs memory.
  int least_steps = 3, most_steps = 50;
  Seconds time{0.2};
};

struct StepTrace {
  Breakdown breakdown;  ///< of all traced steps together, and of all devices
  int steps = 0;
};

/// Adds what the host does, waiting for input or computing, to what the tracer sees. The tracer has started, with idle
/// devices. Throws what it throws.
StepTrace trace_steps(StepSource& steps, Runtime& runtime, Tracer& tracer, Timeline& timeline,
                      const TraceLimits& limits = {});

/// Sets the shares, device_busy and traced_step_time_s.
void set_breakdown(Record& record, const StepTrace& trace);

}  // namespace gpubench
