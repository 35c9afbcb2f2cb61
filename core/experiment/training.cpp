#include "core/experiment/training.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <memory>

#include "core/base/error.h"
#include "core/measure/stats/quantile.h"
#include "core/telemetry/proc/cpu_probe.h"

namespace gpubench {
namespace {

/// A wider interval of the median than this makes the row unreliable.
constexpr double wide_interval = 0.05;

/// The step loop over a dataset that is started anew whenever it ends.
class EndlessSteps {
 public:
  EndlessSteps(Trainer& trainer, const Dataset& dataset) : dataset_(dataset), steps_(trainer.training_loop()) {}

  void step() {
    if (cursor_ && steps_.step(*cursor_)) return;
    cursor_ = dataset_.open(epoch_++);
    if (!steps_.step(*cursor_)) throw Error("measure.training: the dataset is empty");
  }
  const StepLoop& loop() const { return steps_; }

 private:
  const Dataset& dataset_;
  StepLoop steps_;
  std::unique_ptr<Cursor> cursor_;
  std::uint64_t epoch_ = 0;
};

/// Too few steps have no interval, and a system may not tell its CPU time: such cells stay empty.
void set_measured(Record& record, std::string_view column, double value) {
  if (std::isfinite(value)) record.set(column, value);
}

/// What the measured steps add up to.
struct Totals {
  Seconds waited{};
  Seconds wall{};
  double cpu_share = 0;
};

class Measurement {
 public:
  Measurement(Trainer& trainer, const Dataset& dataset, const TrainingOptions& options)
      : trainer_(trainer),
        options_(options),
        steps_(trainer, dataset),
        warmup_(options.warmup),
        rule_(options.stopping) {}

  TrainingMeasurement run() {
    warm_up();
    measure();
    return {describe(), {rule_.samples().begin(), rule_.samples().end()}};
  }

 private:
  Device& device() const {
    const Model& model = trainer_.model();
    return trainer_.runtime().devices().device(model.calls()[model.outputs()[0]].layer->device());
  }

  /// The first step plans, and says what a whole batch is.
  void warm_up() {
    const Stopwatch watch;
    steps_.step();
    batch_ = steps_.loop().examples();
    facts_ = steps_.loop().plan().executor->facts();
    bool settled = false;
    while (!settled) {
      const Stopwatch step;
      steps_.step();
      settled = warmup_.add(step.elapsed().count());
    }
    trainer_.runtime().synchronize();
    warmup_time_ = watch.elapsed();
  }

  void measure() {
    trainer_.reset_metrics();
    device().memory().reset_peak();
    CpuProbe probe;
    const Stopwatch watch;
    bool done = false;
    while (!done) {
      const auto begin = Clock::now();
      steps_.step();
      const auto end = Clock::now();
      if (steps_.loop().examples() != batch_) {  // the rest at the end of the data
        skip_partial(watch);
        continue;
      }
      totals_.waited += steps_.loop().fetched() - begin;
      done = rule_.add(Seconds(end - begin).count());
    }
    trainer_.runtime().synchronize();
    totals_.wall = watch.elapsed();
    std::array<double, 4> readings{};
    probe.read(readings);
    totals_.cpu_share = readings[0];
  }

  /// A dataset of one whole and many partial batches must not be measured for ever.
  void skip_partial(const Stopwatch& watch) const {
    if (rule_.samples().empty() && watch.elapsed() > options_.stopping.budget) {
      throw Error(fmt::format("measure.training: no second batch of {} examples came within {:.1f} s", batch_,
                              options_.stopping.budget.count()));
    }
  }

  Record describe() {
    Record record;
    const Estimate step = rule_.estimate();
    const double flops_per_s = facts_.flops / step.value;
    record.set("quality", quality(step));
    record.set("device", to_string(device().id()));
    record.set("execution", std::string(to_string(trainer_.config().executor.execution)));
    record.set("precision", std::string("float32"));
    record.set("replicas", std::int64_t{1});
    record.set("batch_size", batch_);
    record.set("steps", static_cast<std::int64_t>(rule_.samples().size()));
    const double examples = static_cast<double>(batch_) * static_cast<double>(rule_.samples().size());
    record.set("examples_per_s", examples / rule_.measured().count());
    record.set("step_time_s", step.value);
    set_measured(record, "step_time_low_s", step.interval.low);
    set_measured(record, "step_time_high_s", step.interval.high);
    record.set("step_time_p95_s", quantile(rule_.samples(), 0.95));
    record.set("warmup_s", warmup_time_.count());
    record.set("input_wait_share", totals_.waited / rule_.measured());
    record.set("flops_per_step", facts_.flops);
    record.set("flops_per_s", flops_per_s);
    if (options_.best_flops_per_s) record.set("mfu", flops_per_s / *options_.best_flops_per_s);
    const MemoryUse memory = device().memory().use();
    record.set("peak_memory_bytes", static_cast<std::int64_t>(memory.peak));
    record.set("reserved_memory_bytes", static_cast<std::int64_t>(memory.reserved));
    set_measured(record, "cpu_share", totals_.cpu_share);
    record.set("kernels", static_cast<std::int64_t>(facts_.kernels));
    for (const auto& [name, value] : trainer_.read_metrics()) record.set(name, value);
    record.set("stop_reason", rule_.reason());
    return record;
  }

  std::string quality(const Estimate& step) const {
    if (!warmup_.settled()) return "unreliable: " + warmup_.reason();
    if (std::isinf(step.relative_error())) return "unreliable: too few steps for an interval";
    if (step.relative_error() <= wide_interval) return "ok";
    return fmt::format("unreliable: the interval of the median is {:.0f} % wide", 100 * step.relative_error());
  }

  Trainer& trainer_;
  const TrainingOptions& options_;
  EndlessSteps steps_;
  Warmup warmup_;
  StoppingRule rule_;
  std::int64_t batch_ = 0;
  PlanFacts facts_;
  Seconds warmup_time_{};
  Totals totals_;
};

}  // namespace

TrainingMeasurement measure_training(Trainer& trainer, const Dataset& dataset, const TrainingOptions& options) {
  return Measurement(trainer, dataset, options).run();
}

}  // namespace gpubench
