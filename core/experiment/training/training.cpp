#include "core/experiment/training/training.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <memory>
#include <numeric>

#include "core/base/error.h"
#include "core/exec/step_tracer.h"
#include "core/experiment/kernels/matmul_peak.h"
#include "core/experiment/training/script_facts.h"
#include "core/nn/linear_layer.h"
#include "core/results/column.h"
#include "core/train/step_memory.h"

namespace gpubench {
namespace {

class ModelSteps final : public StepSource {
 public:
  ModelSteps(Trainer& trainer, const Dataset& dataset, bool resident, std::string_view what)
      : trainer_(trainer),
        what_(what),
        steps_(trainer.training_loop()),
        epochs_([&](std::uint64_t epoch) { return trainer.open(dataset, epoch); }, what_),
        resident_(resident) {
    if (const ReplicasPtr& replicas = trainer.config().replicas) watch_.emplace(*replicas);
  }

  void step() override {
    if (resident_ && fetches_ == resident_batches) {
      steps_.step_again();
      return;
    }
    fetch();
    if (resident_ && fetches_ == 1) whole_ = examples();
    if (examples() == whole_ || !resident_) return;
    throw Error(
        fmt::format("{}: resident batches must be equal, got {} and {} examples; the dataset needs {} whole ones",
                    what_, whole_, examples(), resident_batches));
  }
  std::int64_t examples() const override { return steps_.examples(); }
  Clock::time_point fetched() const override { return steps_.fetched(); }
  Epochs* epochs() override { return resident_ ? nullptr : &epochs_; }
  int steps_in_flight() const override { return steps_.plan().executor->inputs_in_flight(); }
  void reset_figures() override { trainer_.reset_metrics(); }
  ReplicaWatch* replicas() override { return watch_ ? &*watch_ : nullptr; }
  /// From the first step's plan, which is that of a whole batch.
  const PlanFacts& facts() const { return *facts_; }
  const std::vector<NodeWork>& work() const { return work_; }

 private:
  /// As many as an executor has input slots.
  static constexpr int resident_batches = 2;

  void fetch() {
    epochs_.advance([this](Cursor& cursor) { return steps_.step(cursor); });
    if (!facts_) {
      facts_ = steps_.plan().executor->facts();
      work_ = steps_.plan().executor->work();
      // Other processes have the rest of the batch.
      const std::optional<BatchShare>& share = steps_.plan().key.share;
      if (share && share->rows > 0) {
        const double parts = static_cast<double>(share->total) / static_cast<double>(share->rows);
        for (double* const work : {&facts_->flops, &facts_->bytes, &facts_->unaligned_flops, &facts_->fixed_flops})
          *work *= parts;
      }
    }
    ++fetches_;
  }

  Trainer& trainer_;
  std::string what_;
  StepLoop steps_;
  Epochs epochs_;
  std::optional<PlanFacts> facts_;
  std::vector<NodeWork> work_;
  std::optional<ReplicaWatch> watch_;
  bool resident_;
  int fetches_ = 0;
  std::int64_t whole_ = 0;
};

std::string device_of(const Model& model) {
  return to_string(model.calls()[model.outputs()[0]].layer->device());
}

/// An Input layer only passes its input on.
bool computes(const Layer& layer) {
  return layer.declared_input() == nullptr && is_floating(layer.policy().compute);
}

bool is_integer(const Layer& layer) {
  return layer.linear() != nullptr && layer.linear()->integer();
}

/// "mixed_bfloat16"; if layers differ, "bfloat16 and float32". Besides int8 layers, layers without weights are ignored:
/// they adapt to their neighbours.
std::string precision_of(const Model& model) {
  const std::vector<LayerPtr> layers = model.layers();
  const bool quantized = std::ranges::any_of(layers, [](const LayerPtr& layer) { return is_integer(*layer); });
  std::vector<std::string> names;
  for (const LayerPtr& layer : layers) {
    if (!computes(*layer) || (quantized && layer->variables().empty())) continue;
    const std::string name = layer->precision();
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

constexpr std::size_t most_profiled_spans = 500'000;

/// At the peak of a step, over all devices, most first; nothing for eager execution, which plans no memory.
std::vector<ProfileMemory> memory_by_layer(Trainer& trainer) {
  std::vector<ProfileMemory> holders;
  if (trainer.config().executor.execution != Execution::graph) return holders;
  for (const DeviceMemory& device : training_memory(trainer)) {
    for (const MemoryHolder& holder : device.at_peak)
      holders.push_back({holder.layer, std::string(to_string(holder.kind)), holder.bytes});
  }
  std::ranges::stable_sort(holders, std::greater<>(), &ProfileMemory::bytes);
  return holders;
}

constexpr std::array highest = {"peak_memory_bytes", "reserved_memory_bytes", "temperature_c"};
constexpr std::string_view summed_column = "warmup_s";

double total(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0);
}

/// Shares of time, watts and clocks are weighted by time; metrics such as accuracy are means over examples.
bool is_of_time(std::string_view name) {
  const Column* const column = find_standard_column(name);
  if (column == nullptr || column->kind == Kind::learned) return false;
  return column->unit == Unit::share || column->unit == Unit::watts || column->unit == Unit::hertz;
}

class Join {
 public:
  Join(const TrainingMeasurement& first, const TrainingMeasurement& second)
      : of_time_(total(first.samples) / (total(first.samples) + total(second.samples))),
        of_steps_(static_cast<double>(first.samples.size()) /
                  static_cast<double>(first.samples.size() + second.samples.size())) {}

  double operator()(std::string_view column, double a, double b) const {
    if (std::ranges::find(highest, column) != highest.end()) return std::max(a, b);
    if (column == summed_column) return a + b;
    const double weight = is_of_time(column) ? of_time_ : of_steps_;
    return weight * a + (1 - weight) * b;
  }

 private:
  double of_time_, of_steps_;
};

}  // namespace

std::vector<Dtype> precisions(const Model& model) {
  std::vector<Dtype> types;
  for (const LayerPtr& layer : model.layers()) {
    const Dtype dtype = is_integer(*layer) ? Dtype::i8 : layer->policy().compute;
    if (computes(*layer) && std::ranges::find(types, dtype) == types.end()) types.push_back(dtype);
  }
  return types;
}

void describe_model(Record& record, const Model& model, Execution execution) {
  record.set("device", device_of(model));
  record.set("execution", std::string(to_string(execution)));
  record.set("precision", precision_of(model));
  record.set("replicas", std::int64_t{1});
}

StepProfile profile_training(Trainer& trainer, const Dataset& dataset, int count, std::string_view what) {
  constexpr int steps_before = 3;
  ModelSteps steps(trainer, dataset, false, what);
  for (int step = 0; step < steps_before; ++step) steps.step();
  Runtime& runtime = trainer.runtime();
  runtime.synchronize();
  const std::unique_ptr<Tracer> tracer = runtime.devices().new_tracer();
  tracer->start();
  Timeline timeline(most_profiled_spans);
  StepTrace trace = trace_steps(steps, runtime, trainer.config().replicas.get(), *tracer, timeline,
                                {.least_steps = count, .most_steps = count, .time = {}, .profiles = true});
  trace.profile->memory = memory_by_layer(trainer);
  add_work(*trace.profile, steps.work());
  return *std::move(trace.profile);
}

TrainingMeasurement measure_training(Trainer& trainer, const Dataset& dataset, const TrainingOptions& options) {
  ModelSteps steps(trainer, dataset, options.resident, options.what);
  StepMeasurement measured = measure_steps(steps, trainer.runtime(), options.limits, options.what);

  if (measured.profile) {
    measured.profile->memory = memory_by_layer(trainer);
    add_work(*measured.profile, steps.work());
  }
  Record record;
  describe_model(record, trainer.model(), trainer.config().executor.execution);
  for (const auto& [column, cell] : measured.record.cells()) record.set(column, cell);
  set_steps_of(record, StepsOf::model);
  set_stages(record, dataset);
  set_passes(record, trainer.config().executor.passes);
  // The CPU reads inputs where they lie.
  if (uses_asynchronous_devices(trainer.runtime().devices()))
    record.set("input_slots", std::int64_t{trainer.config().executor.input_slots});
  set_work(record, steps.facts());
  const std::int64_t parts = trainer.config().gradient_accumulation_steps;
  if (parts > 1) record.set("gradient_accumulation_steps", parts);
  set_work_rates(record, measured.mean_step_time, options.best);
  for (const auto& [name, value] : trainer.read_metrics()) record.set(name, value);
  if (const auto skipped = trainer.skipped_steps()) record.set("skipped_steps", *skipped);
  return {std::move(record),           std::move(measured.samples),
          std::move(measured.doubt),   std::move(measured.timeline),
          std::move(measured.profile), std::move(measured.ranks)};
}

void set_work(Record& record, const PlanFacts& facts) {
  record.set("flops_per_step", facts.flops);
  record.set("fixed_flops_per_step", facts.fixed_flops);
  record.set("bytes_per_step", facts.bytes);
  record.set("kernels", static_cast<std::int64_t>(facts.kernels));
  if (facts.crossings > 0) record.set("device_copies", static_cast<std::int64_t>(facts.crossings));
  if (facts.offloaded_bytes > 0) record.set("offloaded_bytes", static_cast<std::int64_t>(facts.offloaded_bytes));
  // Processors have no tensor cores.
  const bool on_host = to_text(record.get("device")).starts_with("cpu");
  if (facts.unaligned_flops > 0 && !on_host) record.set("unaligned_share", facts.unaligned_flops / facts.flops);
  if (!facts.own_attention.empty())
    record.set("own_attention", fmt::format("{}", fmt::join(facts.own_attention, ", ")));
}

void set_work_rates(Record& record, const Estimate& mean_step, const BestRates& best) {
  const double flops = *number_in(record.get("flops_per_step"));
  set_rate(record, "flops_per_s", flops, mean_step);
  if (best.bytes_per_s)
    set_rate(record, "bandwidth_share", *number_in(record.get("bytes_per_step")) / *best.bytes_per_s, mean_step);
  if (best.flops_per_s) set_mfu(record, flops, *best.flops_per_s, mean_step);
}

TrainingMeasurement join_measurements(const TrainingMeasurement& first, const TrainingMeasurement& second,
                                      const TrainingOptions& options) {
  TrainingMeasurement both = first;
  both.samples.insert(both.samples.end(), second.samples.begin(), second.samples.end());
  if (!both.doubt) both.doubt = second.doubt;

  const Join join(first, second);
  for (const auto& [column, cell] : second.record.cells()) {
    const Cell& other = first.record.get(column);
    if (is_empty(other)) {
      both.record.set(column, cell);
    } else if (const auto* a = std::get_if<double>(&other), *b = std::get_if<double>(&cell); a != nullptr && b) {
      both.record.set(column, join(column, *a, *b));
    } else if (const auto* m = std::get_if<std::int64_t>(&other), *n = std::get_if<std::int64_t>(&cell); m && n) {
      both.record.set(column, std::max(*m, *n));
    }
  }
  // Replaced below if both halves together have an interval.
  for (const Column& column : standard_columns()) {
    if (!column.has_interval) continue;
    for (const std::string& end : {interval_end(column, "low"), interval_end(column, "high")}) {
      if (both.record.has(end)) both.record.set(end, Cell{});
    }
  }
  const auto batch = std::get<std::int64_t>(first.record.get("batch_size"));
  set_step_times(both.record, both.samples, batch, both.doubt, options.limits.scatter);
  set_work_rates(both.record, estimate_mean(both.samples), options.best);
  both.record.set("stop_reason", fmt::format("{}; {}", std::get<std::string>(first.record.get("stop_reason")),
                                             std::get<std::string>(second.record.get("stop_reason"))));
  return both;
}

}  // namespace gpubench
