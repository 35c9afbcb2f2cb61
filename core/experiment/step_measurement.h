// The one way to measure steps: warm up until they settle, then step until the step time is known precisely enough or
// the budget is spent. The clock is read around the fetch of the input and at the end of a step.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "core/exec/runtime.h"
#include "core/experiment/step_source.h"
#include "core/measure/stopping_rule.h"
#include "core/measure/warmup.h"
#include "core/results/record.h"
#include "core/telemetry/tracer.h"

namespace gpubench {

struct StepLimits {
  StoppingLimits stopping;
  WarmupLimits warmup;
  /// Makes what traces a few more steps after the timing, where a GPU takes part; empty: nothing is traced.
  std::function<std::unique_ptr<Tracer>()> new_tracer;
};

struct StepMeasurement {
  Record record;            ///< batch_size, steps, times, shares, memory of all devices together, quality, stop_reason
  Estimate mean_step_time;  ///< seconds
  std::vector<double> samples;  ///< step times in seconds, in order
  /// Of the traced steps; nullptr where none were.
  std::shared_ptr<Timeline> timeline;
};

/// A rate and its 95 % interval.
struct RateColumns {
  std::string_view value, low, high;
};
/// Sets what `amount` a step comes to in a second. Of training, by the mean step: disturbed steps take their time too.
/// The interval stays empty where there is none.
void set_rate(Record& record, const RateColumns& columns, double amount, const Estimate& step_time);

/// Steps with fewer examples than the first are taken but are no samples. Throws Error naming `what` when no second
/// whole batch comes within the budget.
StepMeasurement measure_steps(StepSource& steps, Runtime& runtime, const StepLimits& limits, std::string_view what);

}  // namespace gpubench
