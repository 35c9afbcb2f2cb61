#include "core/experiment/training.h"

#include <fmt/format.h>
#include <memory>

#include "core/base/error.h"

namespace gpubench {
namespace {

/// More of the best matrix product's rate than this cannot be: the yardstick was measured on a busier machine.
constexpr double highest_mfu = 1.02;

class ModelSteps final : public StepSource {
 public:
  ModelSteps(Trainer& trainer, const Dataset& dataset)
      : trainer_(trainer), dataset_(dataset), steps_(trainer.training_loop()) {}

  void step() override {
    if (cursor_ && steps_.step(*cursor_)) return;
    cursor_ = dataset_.open(epoch_++);
    if (!steps_.step(*cursor_)) throw Error("measure.training: the dataset is empty");
  }
  std::int64_t examples() const override { return steps_.examples(); }
  Clock::time_point fetched() const override { return steps_.fetched(); }
  void reset_figures() override {
    facts_ = steps_.plan().executor->facts();
    trainer_.reset_metrics();
  }
  /// Of the plan for whole batches.
  const PlanFacts& facts() const { return facts_; }

 private:
  Trainer& trainer_;
  const Dataset& dataset_;
  StepLoop steps_;
  PlanFacts facts_;
  std::unique_ptr<Cursor> cursor_;
  std::uint64_t epoch_ = 0;
};

std::string device_of(const Model& model) {
  return to_string(model.calls()[model.outputs()[0]].layer->device());
}

}  // namespace

TrainingMeasurement measure_training(Trainer& trainer, const Dataset& dataset, const TrainingOptions& options) {
  ModelSteps steps(trainer, dataset);
  StepMeasurement measured = measure_steps(steps, trainer.runtime(), options.limits, "measure.training");

  Record record;
  record.set("device", device_of(trainer.model()));
  record.set("execution", std::string(to_string(trainer.config().executor.execution)));
  record.set("precision", std::string("float32"));
  record.set("replicas", std::int64_t{1});
  for (const auto& [column, cell] : measured.record.cells()) record.set(column, cell);
  const double flops_per_s = steps.facts().flops / measured.step_time.value;
  record.set("flops_per_step", steps.facts().flops);
  record.set("flops_per_s", flops_per_s);
  record.set("kernels", static_cast<std::int64_t>(steps.facts().kernels));
  if (options.best_flops_per_s) {
    const double mfu = flops_per_s / *options.best_flops_per_s;
    record.set("mfu", mfu);
    if (mfu > highest_mfu) {
      record.set("quality", fmt::format("unreliable: {:.0f} % of the best matrix product's rate, so that was measured "
                                        "while the machine was busy",
                                        100 * mfu));
    }
  }
  for (const auto& [name, value] : trainer.read_metrics()) record.set(name, value);
  return {std::move(record), std::move(measured.samples)};
}

}  // namespace gpubench
