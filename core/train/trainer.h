// A compiled model: its optimizer, losses and metrics, and the plans of its training, evaluation and prediction steps,
// one per batch size. All plans share the model's variables. Elements on the model's device are read in place, without
// checking their class indices.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/data/dataset.h"
#include "core/exec/plan_cache.h"
#include "core/tensor/host_tensor.h"
#include "core/train/metric_states.h"
#include "core/train/step_planner.h"

namespace gpubench {

/// How an evaluation or a prediction goes through its dataset.
struct Inference {
  std::int64_t steps = 0;  ///< the most batches; 0: all
  /// Called before each batch. If the dataset's size is not known, none may follow.
  std::function<void(std::int64_t batch)> before{};
  /// Called after each batch, with the outputs of a prediction. False ends it.
  std::function<bool(std::int64_t batch, std::span<const HostTensor> outputs)> after{};
};

class Trainer {
 public:
  /// `factory` creates the variables when the first data arrive; it must outlive the trainer. Without an optimizer and
  /// losses the model can only predict.
  Trainer(Runtime& runtime, VariableFactory& factory, ModelPtr model, CompileConfig config);

  /// Sets an open input shape from the types of one batched element and creates the model's variables; steps do this
  /// themselves.
  void build(TensorTypes element);

  /// build(), then creates the variables of optimizer and metrics, so that callbacks find them before the first step.
  void prepare_training(TensorTypes element);
  /// The same without the optimizer, so that models with nothing to train can be evaluated.
  void prepare_evaluation(TensorTypes element);

  StepLoop training_loop();
  StepLoop evaluation_loop();
  StepLoop prediction_loop();

  /// An epoch of `dataset` for the loops' steps. It must be destroyed before the trainer's devices.
  std::unique_ptr<Cursor> open(const Dataset& dataset, std::uint64_t epoch = 0) const;

  /// Loss and metrics over the dataset. Throws Error if it is empty, or endless without a number of steps.
  Logs evaluate(const Dataset& dataset, const Inference& how = {});
  /// The model's outputs for the dataset, concatenated along the batch. Labels are ignored. Throws as evaluate().
  std::vector<HostTensor> predict(const Dataset& dataset, const Inference& how = {});

  /// The training plans that are kept, for batches in host memory and on a device: the last of each (PlanCache).
  std::vector<const StepPlan*> training_plans() const;
  /// Plans that are kept of training, evaluation and prediction.
  std::size_t kept_plans() const;
  /// Releases the memory of all plans, which are made again when needed. Throws as require_idle().
  void release_plans(std::string_view operation = "release_plans");
  /// Throws Error "<operation>: model 'm' is being trained; ..." while a loop lives. What changes plans that a loop
  /// goes on with begins with it: the script's functions run within loops, as callbacks, losses, layers and generators.
  void require_idle(std::string_view operation) const;

  const Model& model() const { return *model_; }
  Runtime& runtime() { return runtime_; }
  const CompileConfig& config() const { return config_; }
  StepPlanner planner() const { return {runtime_, *model_, config_}; }
  /// The running means of loss and metrics since the last reset; the figures of a custom step of this phase.
  Logs read_metrics(StepPhase phase = StepPhase::training) const;
  /// The loss or metric behind a figure of the logs, also behind "val_...". Null for others, and for all before the
  /// first step or prepare_training().
  const Figure* figure(std::string_view name) const;
  void reset_metrics(StepPhase phase = StepPhase::training);
  /// The variables of the running means; none before the first step or prepare_training().
  std::vector<VariablePtr> metric_variables() const {
    const std::optional<MetricStates>& own = states(StepPhase::training);
    return own ? own->variables() : std::vector<VariablePtr>{};
  }

  /// Factors of training examples by their class, for the steps from now on; empty: all 1. If they differ from those
  /// before, steps are planned again; throws as require_idle().
  void set_class_weights(std::vector<float> weights);
  /// The script's own step of training or evaluation from now on; null: that of compile. Throws as require_idle().
  void set_custom_step(StepPhase phase, CustomStepPtr step);
  double learning_rate() const;
  /// Throws Error if a schedule sets the learning rate.
  void set_learning_rate(double rate);
  /// The optimizer's moving averages become the weights, if it has some; waits for the devices.
  void take_averages();
  /// Number of steps that loss scaling has skipped; none without loss scaling. Waits for the devices.
  std::optional<std::int64_t> skipped_steps() const;
  /// Copies of the model's variables, in the model's order.
  std::vector<HostTensor> weights() const;
  void set_weights(std::span<const HostTensor> values);

 private:
  void require_compiled(StepPhase phase) const;
  /// The states of the phase's figures.
  std::optional<MetricStates>& states(StepPhase phase);
  const std::optional<MetricStates>& states(StepPhase phase) const;
  /// Calls `done(batch)` after each step of an inference, which goes on while that is true.
  template <class Done>
  void run(std::string_view operation, StepLoop& steps, const Dataset& dataset, const Inference& how, Done&& done);
  void drop_plans(StepPhase phase);
  /// Throws Error if a layer was frozen, or is trained again, after the plans of training were made.
  void require_same_trained() const;
  /// Copies the first process's values to all processes, whose scripts may have started with other values.
  void take_values_of_first_process(std::span<const VariablePtr> variables);
  /// While it lives, a loop of this phase lives. Within another one's life it leaves the running means as they were.
  class LoopScope;
  StepLoop loop(StepPhase phase);
  std::shared_ptr<StepPlan> plan(StepPhase phase, const StepKey& key, const DeviceId* device);
  std::unique_ptr<StepPlan> make_plan(StepPhase phase, const StepKey& key, const DeviceId* device);
  void warn_of_unreached(const std::vector<VariablePtr>& unreached);

  Runtime& runtime_;
  VariableFactory& factory_;
  ModelPtr model_;
  CompileConfig config_;
  std::optional<MetricStates> metrics_;
  std::array<std::optional<MetricStates>, 2> custom_metrics_;  // by StepPhase
  bool can_train_ = false;
  bool warned_ = false;        // of weights that are not trained
  std::vector<bool> trained_;  // by layer, as the plans have it
  struct PhasePlans {
    PlanCache<StepPlan, StepKey> host, device;  // by where batches are
  };
  std::array<PhasePlans, 3> plans_;  // by StepPhase
  std::array<int, 3> loops_{};       // that live, by StepPhase
};

/// Copies of a model's variables, in the model's order.
std::vector<HostTensor> read_weights(Runtime& runtime, const Model& model);
/// Throws Error naming the first variable whose type differs.
void write_weights(Runtime& runtime, const Model& model, std::span<const HostTensor> values);
/// The same for the variables of a layer; `owner` is its title in messages.
void write_weights(Runtime& runtime, const std::string& owner, const std::vector<VariablePtr>& variables,
                   std::span<const HostTensor> values);

}  // namespace gpubench
