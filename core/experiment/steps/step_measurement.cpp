#include "core/experiment/steps/step_measurement.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "core/base/error.h"
#include "core/exec/step_tracer.h"
#include "core/experiment/steps/device_watch.h"
#include "core/experiment/steps/input_window.h"
#include "core/measure/stats/quantile.h"
#include "core/results/column.h"
#include "core/telemetry/nvtx.h"

namespace gpubench {
namespace {

/// A row is unreliable if the interval of its median is wider than this.
constexpr double wide_interval = 0.05;

class Measurement {
 public:
  Measurement(StepSource& steps, Runtime& runtime, const StepLimits& limits, std::string_view what)
      : steps_(steps),
        runtime_(runtime),
        limits_(limits),
        what_(what),
        warmup_(limits.warmup),
        window_(limits.stopping, steps.epochs()),
        devices_(runtime),
        trace_(limits.trace, limits.stopping.budget, static_cast<bool>(limits.agreement)) {}

  StepMeasurement run() {
    const ActivityScope outer(limits_.stopping.activity);
    warm_up();
    measure();
    if (devices_.uses_gpus()) measure_host();
    if (limits_.trace.new_tracer) trace();
    const std::span<const double> samples = window_.rule().samples();
    return {.record = describe(samples),
            .mean_step_time = estimate_mean(samples),
            .samples = {samples.begin(), samples.end()},
            .doubt = doubt(),
            .timeline = trace_.timeline(),
            .profile = trace_.profile(),
            .ranks = replicas_ == nullptr ? std::vector<RankTimes>() : replicas_->ranks()};
  }

 private:
  void begin(Phase phase) const {
    if (Activity* const activity = limits_.stopping.activity) activity->begin(phase);
  }

  /// The first step creates the plan and defines the size of a whole batch.
  void warm_up() {
    const NvtxRange range("warm up");
    begin(Phase::warming_up);
    const Stopwatch watch;
    steps_.step();
    batch_ = steps_.examples();
    if (Epochs* const input = steps_.epochs()) input->fill_caches(limits_.stopping.budget / 2);
    bool settled = false;
    Pace pace(limits_.agreement);
    while (pace.more(!settled)) {
      const Stopwatch step;
      steps_.step();
      settled = warmup_.add(step.elapsed().count());
    }
    use_up_buffers();
    runtime_.synchronize();
    warmup_time_ = watch.elapsed();
  }

  /// While the first step was planned, the input's buffers filled. If the input is the slower side, steps are fast
  /// until the buffers are empty; those steps must not be samples.
  void use_up_buffers() {
    constexpr int steps_between_looks = 4;
    std::int64_t ready = steps_.ready_elements();
    Pace pace(limits_.agreement);
    for (bool fewer = ready > 0; pace.more(fewer);) {
      for (int step = 0; step < steps_between_looks; ++step) steps_.step();
      const std::int64_t left = steps_.ready_elements();
      fewer = left < ready;
      ready = left;
    }
  }

  void measure() {
    const NvtxRange range("measure");
    begin(Phase::measuring);
    steps_.reset_figures();  // waits for the devices
    // So that as many steps are in flight when the first sample begins as when the last one ends.
    for (int step = 0; step < steps_.steps_in_flight(); ++step) steps_.step();
    replicas_ = steps_.replicas();
    if (replicas_ != nullptr) replicas_->begin();
    devices_.begin();
    const Seconds copied_before = devices_.copy_time();
    window_.begin();
    const Stopwatch watch;
    bool done = false;
    std::int64_t steps = 0;
    Pace pace(limits_.agreement);
    while (pace.more(!done)) {
      const auto begin = Clock::now();
      steps_.step();
      const auto end = Clock::now();
      ++steps;
      examples_ += static_cast<double>(steps_.examples());
      if (steps_.examples() != batch_) {  // the incomplete batch at the end of the data
        skip_partial(watch);
        continue;
      }
      // Another process may need more samples, and all must have the same ones.
      done = window_.add(Seconds(end - begin).count(), steps_.fetched() - begin) || done;
    }
    window_.end();
    runtime_.synchronize();
    if (replicas_ != nullptr) replicas_->end(steps, watch.elapsed());
    if (!uses_asynchronous_devices(runtime_.devices()))
      copy_share_ = (devices_.copy_time() - copied_before) / watch.elapsed();
    devices_.end();
  }

  /// The host's work per step without waits: it steps while the executor has room for steps after the device has caught
  /// up, and excludes the wait for the input.
  void measure_host() {
    const int steps_with_room = std::max(1, steps_.steps_in_flight());
    constexpr int least_bursts = 5, most_bursts = 50;
    constexpr Seconds time{0.1};
    std::vector<double> samples;
    const Stopwatch watch;
    Pace pace(limits_.agreement);
    const auto wanted = [&] {
      return samples.size() < least_bursts || (samples.size() < most_bursts && watch.elapsed() < time);
    };
    while (pace.more(wanted())) {
      runtime_.synchronize();
      Seconds busy{};
      for (int i = 0; i < steps_with_room; ++i) {
        const auto begin = Clock::now();
        steps_.step();
        busy += (Clock::now() - begin) - (steps_.fetched() - begin);
      }
      samples.push_back(busy.count() / steps_with_room);
    }
    runtime_.synchronize();
    host_time_ = quantile(samples, 0.5);
  }

  /// Tracing slows the steps, so it comes last.
  void trace() {
    begin(Phase::tracing);
    trace_.run(steps_, runtime_, replicas_ == nullptr ? nullptr : &replicas_->replicas());
    if (replicas_ != nullptr && replicas_->needs_trace()) replicas_->add_trace(trace_.replica_trace());
  }

  /// Limits the time for a dataset with one whole and many partial batches.
  void skip_partial(const Stopwatch& watch) const {
    if (window_.rule().samples().empty() && watch.elapsed() > limits_.stopping.budget) {
      throw Error(fmt::format("{}: no second batch of {} examples came within {:.1f} s", what_, batch_,
                              limits_.stopping.budget.count()));
    }
  }

  Record describe(std::span<const double> samples) {
    Record record;
    set_step_times(record, samples, batch_, doubt(), limits_.scatter);
    record.set("warmup_s", warmup_time_.count());
    record.set("input_wait_share", window_.wait_share());
    if (copy_share_) record.set("copy_share", *copy_share_);
    devices_.describe(record, examples_);
    if (host_time_) record.set("host_time_s", *host_time_);
    if (replicas_ != nullptr) replicas_->describe(record);
    trace_.describe(record, estimate_mean(samples).value, window_.wait_share());
    if (const std::string detail = what_is_missing(); !detail.empty()) record.set("detail", detail);
    const bool own = window_.rule().stop_reason() != StopReason::running;
    record.set("stop_reason", (own ? "" : "with process 0; ") + window_.rule().reason());
    return record;
  }

  std::string what_is_missing() const {
    if (!trace_.absence().empty()) return "no shares but the input's: " + trace_.absence();
    const std::string absence = replicas_ == nullptr ? "" : replicas_->absence();
    return absence.empty() ? "" : "no times of the replicas' exchanges: " + absence;
  }

  Doubt doubt() const {
    if (window_.doubt()) return window_.doubt();
    if (!warmup_.settled() && limits_.scatter == Scatter::judged) return {DoubtKind::unsettled, warmup_.reason()};
    const Doubt of_devices = devices_.doubt();
    return of_devices ? of_devices : trace_.doubt();
  }

  StepSource& steps_;
  Runtime& runtime_;
  const StepLimits& limits_;
  std::string_view what_;
  Warmup warmup_;
  InputWindow window_;
  std::int64_t batch_ = 0;
  Seconds warmup_time_{};
  DeviceWatch devices_;
  TracePhase trace_;
  double examples_ = 0;
  std::optional<double> host_time_, copy_share_;
  ReplicaWatch* replicas_ = nullptr;
};

}  // namespace

void set_estimate(Record& record, std::string_view column, const Estimate& estimate) {
  const Column declared = column_of(column);
  record.set_measured(column, estimate.value);
  record.set_measured(interval_end(declared, "low"), estimate.interval.low);
  record.set_measured(interval_end(declared, "high"), estimate.interval.high);
}

void set_rate(Record& record, std::string_view column, double amount, const Estimate& step_time) {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  const auto [shortest, longest] = step_time.interval;
  const bool known = std::isfinite(longest) && shortest > 0;
  set_estimate(record, column,
               {amount / step_time.value,
                known ? Interval{amount / longest, amount / shortest} : Interval{-unbounded, unbounded}});
}

void set_step_times(Record& record, std::span<const double> samples, std::int64_t batch_size, const Doubt& doubt,
                    Scatter scatter) {
  const Estimate step = estimate_median(samples);
  set_doubt(record, doubt ? doubt : interval_doubt(step, scatter));
  record.set("batch_size", batch_size);
  record.set("steps", std::ssize(samples));
  set_rate(record, "examples_per_s", static_cast<double>(batch_size), estimate_mean(samples));
  set_estimate(record, "step_time_s", step);
  record.set("step_time_p95_s", quantile(samples, 0.95));
}

Doubt interval_doubt(const Estimate& estimate, Scatter scatter, std::string_view what) {
  if (scatter == Scatter::of_rounds) return {};
  if (std::isinf(estimate.relative_error())) return {DoubtKind::few_samples, "too few samples for an interval"};
  if (estimate.relative_error() <= wide_interval) return {};
  return {DoubtKind::scatter, fmt::format("the {} is known to {:.0f} % only", what, 100 * estimate.relative_error())};
}

StepMeasurement measure_steps(StepSource& steps, Runtime& runtime, const StepLimits& limits, std::string_view what) {
  return Measurement(steps, runtime, limits, what).run();
}

}  // namespace gpubench
