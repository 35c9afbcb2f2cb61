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
#include "core/telemetry/timeline.h"

namespace gpubench {

struct StepLimits {
  StoppingLimits stopping;
  WarmupLimits warmup;
  /// Where other processes take the same steps: what the first says.
  Agreement agreement;
  /// Makes what traces a few more steps after the timing, where a GPU takes part; empty: nothing is traced.
  std::function<std::unique_ptr<Tracer>()> new_tracer;
  /// The timeline is wanted, so that a tracer that cannot be had is an error; otherwise the row's detail says why the
  /// shares are missing.
  bool keep_timeline = false;
};

struct StepMeasurement {
  Record record;            ///< batch_size, steps, times, shares, memory of all devices together, quality, stop_reason
  Estimate mean_step_time;  ///< seconds
  std::vector<double> samples;  ///< step times in seconds, in order
  std::string doubt;            ///< why the row is unreliable, if not for its interval; empty when nothing is known
  std::string input_doubt;      ///< of that: the samples do not tell how fast the input is
  /// Of the traced steps; nullptr where none were or it is not wanted.
  std::shared_ptr<Timeline> timeline;
  /// Of steps of replicas, by rank.
  std::vector<RankTimes> ranks{};
};

/// Sets a column and the ends of its interval; the ends stay empty where there is no interval.
void set_estimate(Record& record, std::string_view column, const Estimate& estimate);
/// The same for the rate of `amount` a step. For training, `step_time` is the mean: disturbed steps take their time
/// too.
void set_rate(Record& record, std::string_view column, double amount, const Estimate& step_time);

/// Sets what follows from the step times: steps, examples_per_s, step_time_s and their intervals, step_time_p95_s; and
/// quality, by `doubt` where there is one, else by the median's interval.
void set_step_times(Record& record, std::span<const double> samples, std::int64_t batch_size, const std::string& doubt);

/// "ok", or "unreliable: ..." where the interval of what a row tells is too wide.
std::string interval_quality(const Estimate& estimate, std::string_view what = "median");

/// Steps with fewer examples than the first are taken but are no samples. Throws Error naming `what` when no second
/// whole batch comes within the budget.
StepMeasurement measure_steps(StepSource& steps, Runtime& runtime, const StepLimits& limits, std::string_view what);

}  // namespace gpubench
