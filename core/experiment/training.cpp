#include "core/experiment/training.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "core/base/error.h"
#include "core/experiment/matmul_peak.h"

namespace gpubench {
namespace {

class ModelSteps final : public StepSource {
 public:
  ModelSteps(Trainer& trainer, const Dataset& dataset, bool resident)
      : trainer_(trainer), dataset_(dataset), steps_(trainer.training_loop()), resident_(resident) {}

  void step() override {
    if (resident_ && fetches_ == resident_batches) {
      steps_.step_again();
      return;
    }
    fetch();
    if (resident_ && fetches_ == 1) whole_ = examples();
    if (examples() == whole_ || !resident_) return;
    throw Error(
        fmt::format("measure.training: resident batches must be equal, got {} and {} examples; the dataset needs "
                    "{} whole ones",
                    whole_, examples(), resident_batches));
  }
  std::int64_t examples() const override { return steps_.examples(); }
  Clock::time_point fetched() const override { return steps_.fetched(); }
  int steps_in_flight() const override { return steps_.plan().executor->inputs_in_flight(); }
  void reset_figures() override { trainer_.reset_metrics(); }
  /// Of the first step's plan: it says what a whole batch is.
  const PlanFacts& facts() const { return *facts_; }

 private:
  /// As many as an executor has places for inputs.
  static constexpr int resident_batches = 2;

  void fetch() {
    if (!cursor_ || !steps_.step(*cursor_)) {
      cursor_ = trainer_.open(dataset_, epoch_++);
      if (!steps_.step(*cursor_)) throw Error("measure.training: the dataset is empty");
    }
    if (!facts_) facts_ = steps_.plan().executor->facts();
    ++fetches_;
  }

  Trainer& trainer_;
  const Dataset& dataset_;
  StepLoop steps_;
  std::optional<PlanFacts> facts_;
  std::unique_ptr<Cursor> cursor_;
  std::uint64_t epoch_ = 0;
  bool resident_;
  int fetches_ = 0;
  std::int64_t whole_ = 0;
};

std::string device_of(const Model& model) {
  return to_string(model.calls()[model.outputs()[0]].layer->device());
}

std::string precision_of(const Model& model) {
  std::string names;
  for (const Dtype dtype : precisions(model)) names += (names.empty() ? "" : " and ") + std::string(to_string(dtype));
  return names;
}

}  // namespace

std::vector<Dtype> precisions(const Model& model) {
  std::vector<Dtype> types;
  for (const LayerPtr& layer : model.layers()) {
    const Dtype dtype = layer->dtype();
    if (is_floating(dtype) && std::ranges::find(types, dtype) == types.end()) types.push_back(dtype);
  }
  return types;
}

TrainingMeasurement measure_training(Trainer& trainer, const Dataset& dataset, const TrainingOptions& options) {
  ModelSteps steps(trainer, dataset, options.resident);
  StepMeasurement measured = measure_steps(steps, trainer.runtime(), options.limits, "measure.training");

  Record record;
  record.set("device", device_of(trainer.model()));
  record.set("execution", std::string(to_string(trainer.config().executor.execution)));
  record.set("precision", precision_of(trainer.model()));
  record.set("replicas", std::int64_t{1});
  for (const auto& [column, cell] : measured.record.cells()) record.set(column, cell);
  const double flops = steps.facts().flops;
  record.set("flops_per_step", flops);
  set_rate(record, {"flops_per_s", "flops_low_per_s", "flops_high_per_s"}, flops, measured.mean_step_time);
  record.set("kernels", static_cast<std::int64_t>(steps.facts().kernels));
  if (options.best_flops_per_s) {
    set_rate(record, {"mfu", "mfu_low", "mfu_high"}, flops / *options.best_flops_per_s, measured.mean_step_time);
    mark_impossible_mfu(record);
  }
  for (const auto& [name, value] : trainer.read_metrics()) record.set(name, value);
  return {std::move(record), std::move(measured.samples), std::move(measured.timeline)};
}

}  // namespace gpubench
