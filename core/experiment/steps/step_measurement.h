// The only way to measure steps: warm up until step times settle, then take steps until the step time is known
// precisely or the budget is spent. The clock is read around the fetch of the input and at the end of a step.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/exec/runtime.h"
#include "core/experiment/steps/step_source.h"
#include "core/experiment/steps/trace_phase.h"
#include "core/measure/stopping_rule.h"
#include "core/measure/warmup.h"
#include "core/results/doubt.h"
#include "core/results/record.h"

namespace gpubench {

struct StepLimits {
  StoppingLimits stopping;
  WarmupLimits warmup;
  Scatter scatter = Scatter::judged;
  /// The first process's decisions, if other processes take the same steps.
  Agreement agreement;
  /// Of a few more steps after the timing. Without a tracer, the row's detail says why shares are missing.
  TraceWishes trace;
};

struct StepMeasurement {
  Record record;                ///< batch_size, steps, times, shares, memory summed over devices, quality, stop_reason
  Estimate mean_step_time;      ///< seconds
  std::vector<double> samples;  ///< step times in seconds, in order
  Doubt doubt;                  ///< why the row is unreliable, apart from its interval
  /// Of the traced steps; nullptr without a trace or if it is not needed.
  std::shared_ptr<Timeline> timeline;
  /// Of the traced steps, if it was asked for.
  std::optional<StepProfile> profile{};
  /// By rank, for steps of replicas.
  std::vector<RankTimes> ranks{};
};

/// Sets a column and the ends of its interval; the ends stay empty if there is no interval.
void set_estimate(Record& record, std::string_view column, const Estimate& estimate);
/// Sets a rate of `amount` per step, with its interval. For training, `step_time` is the mean, because disturbed steps
/// cost time too.
void set_rate(Record& record, std::string_view column, double amount, const Estimate& step_time);

/// Sets the columns that follow from the step times: steps, examples_per_s, step_time_s and their intervals,
/// step_time_p95_s; and quality and doubt, from `doubt` if there is one, else from the median's interval.
void set_step_times(Record& record, std::span<const double> samples, std::int64_t batch_size, const Doubt& doubt,
                    Scatter scatter);

/// Whether the interval is too wide.
Doubt interval_doubt(const Estimate& estimate, Scatter scatter, std::string_view what = "median");

/// Steps with fewer examples than the first are taken but do not count as samples. Throws Error naming `what` if the
/// budget does not reach a second whole batch.
StepMeasurement measure_steps(StepSource& steps, Runtime& runtime, const StepLimits& limits, std::string_view what);

}  // namespace gpubench
