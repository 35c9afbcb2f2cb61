#include "core/experiment/step_measurement.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "core/base/error.h"
#include "core/experiment/gpu_watch.h"
#include "core/experiment/input_window.h"
#include "core/experiment/step_trace.h"
#include "core/measure/stats/quantile.h"
#include "core/telemetry/nvtx.h"
#include "core/telemetry/proc/cpu_probe.h"

namespace gpubench {
namespace {

/// A wider interval of the median than this makes the row unreliable.
constexpr double wide_interval = 0.05;

/// Too few steps have no interval, and a system may not tell its CPU time: such cells stay empty.
void set_measured(Record& record, std::string_view column, double value) {
  if (std::isfinite(value)) record.set(column, value);
}

class Measurement {
 public:
  Measurement(StepSource& steps, Runtime& runtime, const StepLimits& limits, std::string_view what)
      : steps_(steps),
        runtime_(runtime),
        limits_(limits),
        what_(what),
        warmup_(limits.warmup),
        window_(limits.stopping, steps.epochs()) {
    // Takes long enough for a GPU to fall asleep in, so it comes before the warm-up.
    bool has_gpus = false;
    for_each_device([&](Device& device) { has_gpus = has_gpus || !device.bus_id().empty(); });
    if (has_gpus) nvml_ = open_nvml();
  }

  StepMeasurement run() {
    warm_up();
    measure();
    if (!gpus_in_use().empty()) measure_host();
    if (limits_.new_tracer && !gpus_in_use().empty()) trace();
    const std::span<const double> samples = window_.rule().samples();
    return {.record = describe(samples),
            .mean_step_time = estimate_mean(samples),
            .samples = {samples.begin(), samples.end()},
            .doubt = doubt(),
            .input_doubt = window_.doubt(),
            .timeline = timeline_};
  }

 private:
  /// The first step plans, and says what a whole batch is.
  void warm_up() {
    const NvtxRange range("warm up");
    const Stopwatch watch;
    steps_.step();
    batch_ = steps_.examples();
    bool settled = false;
    while (!settled) {
      const Stopwatch step;
      steps_.step();
      settled = warmup_.add(step.elapsed().count());
    }
    use_up_buffers();
    runtime_.synchronize();
    warmup_time_ = watch.elapsed();
  }

  /// While the first step planned, the input's buffers filled. Where the input is the slower of the two, steps go fast
  /// until they are empty; those are no sample of what comes after.
  void use_up_buffers() {
    constexpr int steps_between_looks = 4;
    std::int64_t ready = steps_.ready_elements();
    for (bool fewer = ready > 0; fewer;) {
      for (int step = 0; step < steps_between_looks; ++step) steps_.step();
      const std::int64_t left = steps_.ready_elements();
      fewer = left < ready;
      ready = left;
    }
  }

  void measure() {
    const NvtxRange range("measure");
    // As many steps are under way when the first sample begins as when the last one ends.
    for (int step = 0; step < steps_.steps_in_flight(); ++step) steps_.step();
    steps_.reset_figures();
    for_each_device([](Device& device) { device.memory().reset_peak(); });
    // What holds nothing of this work after the warm-up takes no part in it.
    GpuWatch& gpus = gpus_.emplace(gpus_in_use(), nvml_);
    gpus.begin();
    CpuProbe probe;
    const Seconds copied_before = copy_time();
    window_.begin();
    const Stopwatch watch;
    bool done = false;
    while (!done) {
      const auto begin = Clock::now();
      steps_.step();
      const auto end = Clock::now();
      examples_ += static_cast<double>(steps_.examples());
      if (steps_.examples() != batch_) {  // the rest at the end of the data
        skip_partial(watch);
        continue;
      }
      done = window_.add(Seconds(end - begin).count(), steps_.fetched() - begin);
    }
    runtime_.synchronize();
    if (gpus_in_use().empty()) copy_share_ = (copy_time() - copied_before) / watch.elapsed();
    gpus.end();
    std::array<double, 4> readings{};
    probe.read(readings);
    cpu_share_ = readings[0];
  }

  /// What the host does for a step when it waits for nothing: an executor has room for some steps after the device has
  /// caught up, and the wait for the input is left out.
  void measure_host() {
    const int steps_with_room = std::max(1, steps_.steps_in_flight());
    constexpr int least_bursts = 5, most_bursts = 50;
    constexpr Seconds time{0.1};
    std::vector<double> samples;
    const Stopwatch watch;
    while (samples.size() < least_bursts || (samples.size() < most_bursts && watch.elapsed() < time)) {
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

  /// Tracing slows down, so it comes last.
  void trace() {
    constexpr std::size_t most_spans = 200'000;
    const NvtxRange range("trace");
    runtime_.synchronize();
    const std::unique_ptr<Tracer> tracer = started_tracer();
    if (tracer == nullptr) return;
    const auto timeline = std::make_shared<Timeline>(most_spans);
    trace_ = trace_steps(steps_, runtime_, *tracer, *timeline);
    if (limits_.keep_timeline) timeline_ = timeline;
  }

  std::unique_ptr<Tracer> started_tracer() {
    try {
      std::unique_ptr<Tracer> tracer = limits_.new_tracer();
      tracer->start();
      return tracer;
    } catch (const DeviceLost&) {
      throw;
    } catch (const Error& error) {
      if (limits_.keep_timeline) throw;
      no_trace_ = error.what();
      return nullptr;
    }
  }

  /// Of the devices that copy in their callers' time.
  Seconds copy_time() const {
    Seconds time{};
    for_each_device([&](Device& device) { time += device.copy_time().value_or(Seconds{}); });
    return time;
  }

  /// A dataset of one whole and many partial batches must not be measured for ever.
  void skip_partial(const Stopwatch& watch) const {
    if (window_.rule().samples().empty() && watch.elapsed() > limits_.stopping.budget) {
      throw Error(fmt::format("{}: no second batch of {} examples came within {:.1f} s", what_, batch_,
                              limits_.stopping.budget.count()));
    }
  }

  Record describe(std::span<const double> samples) {
    Record record;
    set_step_times(record, samples, batch_, doubt());
    record.set("warmup_s", warmup_time_.count());
    record.set("input_wait_share", window_.wait_share());
    if (copy_share_) record.set("copy_share", *copy_share_);
    if (!no_trace_.empty()) record.set("detail", "no shares but the input's: " + no_trace_);
    std::int64_t peak = 0, reserved = 0;
    for_each_device([&](Device& device) {
      const MemoryUse memory = device.memory().use();
      peak += static_cast<std::int64_t>(memory.peak);
      reserved += static_cast<std::int64_t>(memory.reserved);
    });
    record.set("peak_memory_bytes", peak);
    record.set("reserved_memory_bytes", reserved);
    set_measured(record, "cpu_share", cpu_share_);
    if (host_time_) record.set("host_time_s", *host_time_);
    gpus_->describe(record, examples_);
    if (trace_) set_breakdown(record, *trace_);
    record.set("stop_reason", window_.rule().reason());
    return record;
  }

  std::string doubt() const {
    if (!window_.doubt().empty()) return window_.doubt();
    if (!warmup_.settled()) return warmup_.reason();
    if (const std::string doubt = gpus_->doubt(); !doubt.empty()) return doubt;
    return trace_ ? trace_->breakdown.doubt : "";
  }

  std::vector<WatchedGpu> gpus_in_use() const {
    std::vector<WatchedGpu> gpus;
    for_each_device([&](Device& device) {
      if (device.bus_id().empty() || device.memory().use().in_use == 0) return;
      gpus.push_back({to_string(device.id()), device.bus_id()});
    });
    return gpus;
  }

  template <class Use>
  void for_each_device(const Use& use) const {
    for (const DeviceId& id : runtime_.devices().ids()) use(runtime_.devices().device(id));
  }

  StepSource& steps_;
  Runtime& runtime_;
  const StepLimits& limits_;
  std::string_view what_;
  Warmup warmup_;
  InputWindow window_;
  std::int64_t batch_ = 0;
  Seconds warmup_time_{};
  double cpu_share_ = 0, examples_ = 0;
  NvmlAccess nvml_;
  std::optional<GpuWatch> gpus_;
  std::optional<double> host_time_, copy_share_;
  std::string no_trace_;
  std::optional<StepTrace> trace_;
  std::shared_ptr<Timeline> timeline_;
};

}  // namespace

void set_rate(Record& record, const RateColumns& columns, double amount, const Estimate& step_time) {
  set_measured(record, columns.value, amount / step_time.value);
  const auto [shortest, longest] = step_time.interval;
  if (!std::isfinite(longest) || shortest <= 0) return;
  set_measured(record, columns.low, amount / longest);
  set_measured(record, columns.high, amount / shortest);
}

void set_step_times(Record& record, std::span<const double> samples, std::int64_t batch_size,
                    const std::string& doubt) {
  const Estimate step = estimate_median(samples);
  record.set("quality", doubt.empty() ? interval_quality(step) : "unreliable: " + doubt);
  record.set("batch_size", batch_size);
  record.set("steps", std::ssize(samples));
  set_rate(record, {"examples_per_s", "examples_low_per_s", "examples_high_per_s"}, static_cast<double>(batch_size),
           estimate_mean(samples));
  record.set("step_time_s", step.value);
  set_measured(record, "step_time_low_s", step.interval.low);
  set_measured(record, "step_time_high_s", step.interval.high);
  record.set("step_time_p95_s", quantile(samples, 0.95));
}

std::string interval_quality(const Estimate& median) {
  if (std::isinf(median.relative_error())) return "unreliable: too few samples for an interval";
  if (median.relative_error() <= wide_interval) return "ok";
  return fmt::format("unreliable: the median is known to {:.0f} % only", 100 * median.relative_error());
}

StepMeasurement measure_steps(StepSource& steps, Runtime& runtime, const StepLimits& limits, std::string_view what) {
  return Measurement(steps, runtime, limits, what).run();
}

}  // namespace gpubench
