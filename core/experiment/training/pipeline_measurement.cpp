#include "core/experiment/training/pipeline_measurement.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/interrupt.h"
#include "core/data/tune/pipeline.h"
#include "core/experiment/steps/input_window.h"
#include "core/experiment/steps/step_measurement.h"
#include "core/telemetry/proc/process_probes.h"

namespace gpubench {
namespace {

/// An element may take less than a read of the clock, so elements are timed in groups of this duration.
constexpr Seconds sample_time{0.002};
constexpr std::size_t most_in_sample = std::size_t{1} << 20;

std::size_t bytes_of(const Element& element) {
  std::size_t bytes = 0;
  for (const HostTensor& tensor : element) bytes += tensor.bytes();
  return bytes;
}

// The rule's samples are groups of elements, whose times nobody knows.
StoppingLimits without_estimates(StoppingLimits limits) {
  limits.activity = nullptr;
  return limits;
}

class PipelineRun {
 public:
  PipelineRun(const Dataset& dataset, const PipelineLimits& limits)
      : epochs_([&](std::uint64_t epoch) { return open_pipeline(dataset, epoch, {.on_devices = true}); },
                "measure.pipeline"),
        budget_(limits.stopping.budget),
        warmup_(limits.warmup),
        window_(without_estimates(limits.stopping), &epochs_),
        scatter_(limits.scatter),
        activity_(limits.stopping.activity) {}

  PipelineMeasurement run() {
    const ActivityScope outer(activity_);
    warm_up();
    measure();
    std::vector<double> samples(window_.rule().samples().begin(), window_.rule().samples().end());
    for (double& sample : samples) sample /= static_cast<double>(elements_);
    return {describe(), std::move(samples), epochs_.totals(), own_times_, measured_};
  }

 private:
  void begin(Phase phase) const {
    if (activity_ != nullptr) activity_->begin(phase);
  }

  /// Samples grow until they are long enough for the clock; then they must settle.
  void warm_up() {
    begin(Phase::warming_up);
    const Stopwatch first;
    take();
    first_element_ = first.elapsed();
    epochs_.fill_caches(budget_ / 2);
    while (some_elements() < sample_time && elements_ < most_in_sample) elements_ *= 2;
    while (!warmup_.add(some_elements().count())) continue;
  }

  void take() {
    epochs_.advance([this](Cursor& cursor) { return cursor.next(element_); });
  }

  /// A sample: the time of a group of elements, long enough for the clock.
  Seconds some_elements() {
    check_interrupt();
    const Stopwatch watch;
    for (std::size_t i = 0; i < elements_; ++i) {
      take();
      bytes_ += static_cast<double>(bytes_of(element_));
    }
    return watch.elapsed();
  }

  void measure() {
    begin(Phase::measuring);
    bytes_ = 0;
    const std::int64_t before = epochs_.opened();
    window_.begin();
    CpuProbe probe;
    const ThreadTimes own_before = times_of_this_thread();
    const Stopwatch watch;
    for (bool done = false; !done; ++taken_) {
      const Seconds time = some_elements();
      done = window_.add(time.count(), time);
    }
    measured_ = watch.elapsed();
    window_.end();
    own_times_ = times_of_this_thread();
    own_times_.cpu -= own_before.cpu;
    own_times_.ready -= own_before.ready;
    std::array<double, 4> readings{};
    probe.read(readings);
    cpu_share_ = readings[0];
    epochs_opened_ = epochs_.opened() - before;
  }

  Record describe() {
    const auto windows = static_cast<double>(window_.rule().samples().size());
    const Estimate median = window_.rule().estimate();
    const Estimate mean = estimate_mean(window_.rule().samples());
    Record record;
    set_doubt(record, doubt(median));
    record.set("elements", static_cast<std::int64_t>(windows) * static_cast<std::int64_t>(elements_));
    record.set("epochs", epochs_opened_);
    record.set("element_time_s", median.value / static_cast<double>(elements_));
    set_rate(record, "elements_per_s", static_cast<double>(elements_), mean);
    set_rate(record, "bytes_per_s", bytes_ / static_cast<double>(taken_), mean);
    record.set("first_element_s", first_element_.count());
    record.set_measured("cpu_share", cpu_share_);
    record.set("stop_reason", window_.rule().reason());
    record.set("detail", "no shares: only the input is timed, no device waits for it");
    return record;
  }

  Doubt doubt(const Estimate& sample) const {
    if (window_.doubt()) return window_.doubt();
    if (!warmup_.settled() && scatter_ == Scatter::judged) return {DoubtKind::unsettled, warmup_.reason()};
    return interval_doubt(sample, scatter_);
  }

  Epochs epochs_;
  Seconds budget_;
  Warmup warmup_;
  InputWindow window_;
  Scatter scatter_;
  Activity* activity_;
  Element element_;
  std::size_t elements_ = 1;  // per sample
  std::int64_t taken_ = 0;    // number of samples, including those that do not count
  ThreadTimes own_times_;
  Seconds measured_{};
  Seconds first_element_{};
  double bytes_ = 0, cpu_share_ = 0;
  std::int64_t epochs_opened_ = 0;
};

}  // namespace

PipelineMeasurement measure_pipeline(const Dataset& dataset, const PipelineLimits& limits) {
  return PipelineRun(dataset, limits).run();
}

}  // namespace gpubench
