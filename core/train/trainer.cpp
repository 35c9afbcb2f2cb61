#include "core/train/trainer.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/tune/pipeline.h"
#include "core/device/device.h"
#include "core/telemetry/nvtx.h"

namespace gpubench {
namespace {

TensorType without_batch(const TensorType& type) {
  return {Shape(type.shape.begin() + 1, type.shape.end()), type.dtype};
}

void require_batches(const Model& model, TensorTypes element) {
  const std::vector<TensorType> examples = model.input_types();
  if (element.size() < examples.size()) return;
  const bool is_example =
      std::ranges::equal(examples, element.first(examples.size()), {}, &TensorType::shape, &TensorType::shape);
  if (!is_example) return;
  throw Error(
      fmt::format("model '{}': got single examples of shape {}; batch the dataset first, as in dataset:batch(32)",
                  model.name(), to_string(element[0].shape)));
}

/// All layers that read an element on a device must be on that device.
void require_on(const Model& model, const DeviceId& device) {
  std::vector<std::size_t> readers = model.inputs();
  readers.insert(readers.end(), model.outputs().begin(), model.outputs().end());
  for (const std::size_t call : readers) {
    const LayerPtr& layer = model.calls()[call].layer;
    if (layer->device() == device) continue;
    throw Error(
        fmt::format("model '{}': its layer '{}' is on {}, and the dataset's elements are on {}; they have to be "
                    "on the same device, or in host memory",
                    model.name(), layer->name(), to_string(layer->device()), to_string(device)));
  }
}

std::vector<bool> trained_layers(const Model& model) {
  std::vector<bool> trained;
  for (const LayerPtr& layer : model.layers()) trained.push_back(layer->trainable());
  return trained;
}

}  // namespace

class Trainer::LoopScope {
 public:
  LoopScope(Trainer& trainer, StepPhase phase) : trainer_(trainer), phase_(phase) {
    const bool within_another = std::ranges::any_of(trainer.loops_, [](int count) { return count > 0; });
    const std::optional<MetricStates>& states = trainer.states(phase);
    if (within_another && states && phase != StepPhase::prediction) outer_means_ = states->values();
    ++count();
  }
  ~LoopScope() {
    --count();
    if (!outer_means_) return;
    try {
      trainer_.states(phase_)->set_values(*outer_means_);
    } catch (const std::exception&) {  // a device has failed, with which the outer loop's next step fails
    }
  }
  LoopScope(const LoopScope&) = delete;
  LoopScope& operator=(const LoopScope&) = delete;

 private:
  int& count() { return trainer_.loops_[static_cast<std::size_t>(phase_)]; }

  Trainer& trainer_;
  const StepPhase phase_;
  std::optional<std::vector<HostTensor>> outer_means_;
};

Trainer::Trainer(Runtime& runtime, VariableFactory& factory, ModelPtr model, CompileConfig config)
    : runtime_(runtime), factory_(factory), model_(std::move(model)), config_(std::move(config)) {}

void Trainer::require_compiled(StepPhase phase) const {
  if (config_.optimizer && (custom_step(config_, phase) || !config_.losses.empty())) return;
  if (config_.optimizer) {
    throw Error(fmt::format("model '{}': compile was given no loss, which {} needs; give it one, or write model:{}",
                            model_->name(), phase == StepPhase::training ? "fit" : "evaluation",
                            phase == StepPhase::training ? "train_step" : "test_step"));
  }
  throw Error(fmt::format("model '{}': has not been compiled; call compile with an optimizer and a loss first",
                          model_->name()));
}

void Trainer::build(TensorTypes element) {
  if (!model_->defined()) {
    if (element.empty() || element[0].shape.empty()) {
      throw Error(fmt::format("model '{}': expects tensors with a batch dimension", model_->name()));
    }
    const TensorType example = without_batch(element[0]);
    model_->define(std::span(&example, 1));
  }
  require_batches(*model_, element);
  model_->build(factory_);
}

void Trainer::take_values_of_first_process(std::span<const VariablePtr> variables) {
  ProcessGroup* const group = config_.replicas ? config_.replicas->group() : nullptr;
  if (group == nullptr) return;
  VariableStore& store = runtime_.variables();
  for (const VariablePtr& variable : variables) {
    const HostTensor value = store.read(*variable);
    const std::string own(reinterpret_cast<const char*>(value.data()), value.bytes());
    const std::string first = group->broadcast(group->rank() == 0 ? own : std::string(), 0);
    if (first == own) continue;
    if (first.size() != own.size()) {
      throw Error(fmt::format(
          "model '{}': variable {} has {} bytes in {} and {} in {}; all processes have to make the same model",
          model_->name(), variable->name, first.size(), group->name_of(0), own.size(), group->name_of(group->rank())));
    }
    std::memcpy(value.data(), first.data(), first.size());
    store.write(*variable, value);
  }
}

void Trainer::prepare_training(TensorTypes element) {
  if (can_train_) return;
  if (config_.train_step) {
    require_compiled(StepPhase::training);
    build(element);
    take_values_of_first_process(model_->variables());
  } else {
    prepare_evaluation(element);
  }
  require_gradients(*model_);
  trained_ = trained_layers(*model_);
  can_train_ = config_.train_step != nullptr;
  if (can_train_) return;
  config_.optimizer->build(factory_, model_->trainable_variables());
  if (config_.loss_scale) config_.loss_scale->build(factory_, config_.optimizer->iterations()->device);
  take_values_of_first_process(optimizer_state(*model_, config_));
  can_train_ = true;
}

void Trainer::prepare_evaluation(TensorTypes element) {
  if (metrics_) return;
  require_compiled(StepPhase::evaluation);
  build(element);
  const std::size_t outputs = model_->outputs().size();
  if (config_.losses.size() != 1 && config_.losses.size() != outputs) {
    throw Error(fmt::format("model '{}': has {} outputs, so it takes one loss or {}, got {}", model_->name(), outputs,
                            outputs, config_.losses.size()));
  }
  if (!config_.loss_weights.empty() && config_.loss_weights.size() != outputs) {
    throw Error(fmt::format("model '{}': has {} outputs, so it takes {} loss_weights, got {}", model_->name(), outputs,
                            outputs, config_.loss_weights.size()));
  }
  const DeviceId& device = model_->calls()[model_->outputs()[0]].layer->device();
  metrics_.emplace(runtime_, factory_, figures_of(*model_, config_), device);
  take_values_of_first_process(model_->variables());
}

std::optional<MetricStates>& Trainer::states(StepPhase phase) {
  return custom_step(config_, phase) ? custom_metrics_[static_cast<std::size_t>(phase)] : metrics_;
}

const std::optional<MetricStates>& Trainer::states(StepPhase phase) const {
  return custom_step(config_, phase) ? custom_metrics_[static_cast<std::size_t>(phase)] : metrics_;
}

Logs Trainer::read_metrics(StepPhase phase) const {
  const std::optional<MetricStates>& own = states(phase);
  return own ? own->read() : Logs{};
}

void Trainer::reset_metrics(StepPhase phase) {
  if (std::optional<MetricStates>& own = states(phase)) own->reset();
}

void Trainer::warn_of_unreached(const std::vector<VariablePtr>& unreached) {
  if (warned_ || unreached.empty() || !config_.warn) return;
  warned_ = true;
  constexpr std::size_t most = 4;
  std::string names;
  for (std::size_t i = 0; i < std::min(most, unreached.size()); ++i) {
    names += (i == 0 ? "" : ", ") + unreached[i]->name;
  }
  if (unreached.size() > most) names += fmt::format(" and {} more", unreached.size() - most);
  config_.warn(
      fmt::format("model '{}': the loss does not depend on {}: no gradient, so no change by training "
                  "(trainable = false says that it is meant)",
                  model_->name(), names));
}

std::unique_ptr<StepPlan> Trainer::make_plan(StepPhase phase, const StepKey& key, const DeviceId* device) {
  const NvtxRange range("plan");
  build(key.types);
  if (device != nullptr) require_on(*model_, *device);
  if (phase == StepPhase::training) {
    require_same_trained();
    prepare_training(key.types);
  }
  const CustomStepPtr own = custom_step(config_, phase);
  if (phase == StepPhase::evaluation && !own) prepare_evaluation(key.types);
  std::unique_ptr<StepPlan> plan = planner().plan(phase, key, device, metrics_ ? &*metrics_ : nullptr);
  if (std::optional<MetricStates>& figures = states(phase); own && !figures) {
    figures.emplace(runtime_, factory_, own->figures(), model_->calls()[model_->outputs()[0]].layer->device());
    figures->reset();  // a metric of the script may have been used before
  }
  warn_of_unreached(plan->unreached);
  return plan;
}

std::shared_ptr<StepPlan> Trainer::plan(StepPhase phase, const StepKey& key, const DeviceId* device) {
  PhasePlans& plans = plans_[static_cast<std::size_t>(phase)];
  return (device == nullptr ? plans.host : plans.device).get(key, [&](const StepKey& wanted) {
    return make_plan(phase, wanted, device);
  });
}

std::vector<const StepPlan*> Trainer::training_plans() const {
  std::vector<const StepPlan*> plans;
  const PhasePlans& training = plans_[static_cast<std::size_t>(StepPhase::training)];
  for (const auto* cache : {&training.host, &training.device}) {
    for (const auto& [types, plan] : cache->plans()) plans.push_back(plan.get());
  }
  return plans;
}

std::size_t Trainer::kept_plans() const {
  std::size_t count = 0;
  for (const PhasePlans& plans : plans_) count += plans.host.size() + plans.device.size();
  return count;
}

void Trainer::require_idle(std::string_view operation) const {
  constexpr std::array doing{"being trained", "being evaluated", "predicting"};  // by StepPhase
  for (std::size_t phase = 0; phase < doing.size(); ++phase) {
    if (loops_[phase] == 0) continue;
    throw Error(
        fmt::format("{0}: model '{1}' is {2}; {0} is possible before and after fit, evaluate, predict and measurements "
                    "of the model, not in a callback or function that they call",
                    operation, model_->name(), doing[phase]));
  }
}

void Trainer::release_plans(std::string_view operation) {
  require_idle(operation);
  for (const StepPhase phase : {StepPhase::training, StepPhase::evaluation, StepPhase::prediction}) drop_plans(phase);
}

StepLoop Trainer::loop(StepPhase phase) {
  return StepLoop([this, phase, scope = std::make_shared<LoopScope>(*this, phase)](
                      const StepKey& key, const DeviceId* device) { return plan(phase, key, device); },
                  config_.replicas.get(),
                  phase == StepPhase::prediction ? StepLoop::Steps::own : StepLoop::Steps::together);
}

void Trainer::require_same_trained() const {
  if (!can_train_) return;
  const std::vector<bool> now = trained_layers(*model_);
  const auto changed = std::ranges::mismatch(trained_, now).in1 - trained_.begin();
  if (changed == std::ssize(trained_)) return;
  const Layer& layer = *model_->layers()[static_cast<std::size_t>(changed)];
  throw Error(fmt::format("model '{}': layer '{}' was made {} after the model was compiled; compile it again",
                          model_->name(), layer.name(), layer.trainable() ? "trainable" : "not trainable"));
}

StepLoop Trainer::training_loop() {
  require_compiled(StepPhase::training);
  require_same_trained();
  return loop(StepPhase::training);
}

StepLoop Trainer::evaluation_loop() {
  require_compiled(StepPhase::evaluation);
  return loop(StepPhase::evaluation);
}

StepLoop Trainer::prediction_loop() {
  return loop(StepPhase::prediction);
}

std::unique_ptr<Cursor> Trainer::open(const Dataset& dataset, std::uint64_t epoch) const {
  CursorOptions options;
  options.on_devices = true;
  for (const LayerPtr& layer : model_->layers()) {
    if (options.memory != nullptr || !config_.pin_inputs) break;
    options.memory = runtime_.devices().device(layer->device()).host_memory();
  }
  return open_pipeline(dataset, epoch, options);
}

const Figure* Trainer::figure(std::string_view name) const {
  constexpr std::string_view validation = "val_";
  name = name.substr(0, name.find('['));  // one of several results
  const auto figure_of = [&](StepPhase phase, std::string_view own) -> const Figure* {
    const std::optional<MetricStates>& of_phase = states(phase);
    if (!of_phase) return nullptr;
    const auto found = std::ranges::find(of_phase->figures(), own, &Figure::name);
    return found == of_phase->figures().end() ? nullptr : &*found;
  };
  if (const Figure* const found = figure_of(StepPhase::training, name)) return found;
  return name.starts_with(validation) ? figure_of(StepPhase::evaluation, name.substr(validation.size())) : nullptr;
}

void Trainer::drop_plans(StepPhase phase) {
  runtime_.synchronize();
  PhasePlans& plans = plans_[static_cast<std::size_t>(phase)];
  plans.host.clear();
  plans.device.clear();
}

void Trainer::set_class_weights(std::vector<float> weights) {
  if (config_.class_weights == weights) return;
  require_idle("another class_weight");
  if (config_.train_step) {
    throw Error(
        fmt::format("class_weight: model '{}' has a train_step of its own, which weighs its loss itself; leave it out",
                    model_->name()));
  }
  config_.class_weights = std::move(weights);
  drop_plans(StepPhase::training);
}

void Trainer::set_custom_step(StepPhase phase, CustomStepPtr step) {
  require_idle(phase == StepPhase::training ? "another train_step" : "another test_step");
  (phase == StepPhase::training ? config_.train_step : config_.test_step) = std::move(step);
  custom_metrics_[static_cast<std::size_t>(phase)].reset();
  if (phase == StepPhase::training) can_train_ = false;
  drop_plans(phase);
}

double Trainer::learning_rate() const {
  return gpubench::learning_rate(runtime_, *config_.optimizer);
}

void Trainer::set_learning_rate(double rate) {
  gpubench::set_learning_rate(runtime_, *config_.optimizer, rate);
}

void Trainer::take_averages() {
  gpubench::take_averages(runtime_, *config_.optimizer, model_->trainable_variables());
}

std::optional<std::int64_t> Trainer::skipped_steps() const {
  if (!config_.loss_scale || !config_.loss_scale->skipped_steps()) return std::nullopt;
  runtime_.synchronize();
  return runtime_.variables().read(*config_.loss_scale->skipped_steps()).values<std::int64_t>()[0];
}

std::vector<HostTensor> Trainer::weights() const {
  return read_weights(runtime_, *model_);
}

void Trainer::set_weights(std::span<const HostTensor> values) {
  write_weights(runtime_, *model_, values);
}

std::vector<HostTensor> read_weights(Runtime& runtime, const Model& model) {
  runtime.synchronize();
  std::vector<HostTensor> values;
  for (const VariablePtr& variable : model.variables()) values.push_back(runtime.variables().read(*variable));
  return values;
}

void write_weights(Runtime& runtime, const Model& model, std::span<const HostTensor> values) {
  write_weights(runtime, fmt::format("model '{}'", model.name()), model.variables(), values);
}

void write_weights(Runtime& runtime, const std::string& owner, const std::vector<VariablePtr>& variables,
                   std::span<const HostTensor> values) {
  if (values.size() != variables.size()) {
    throw Error(fmt::format("{}: has {} variables, got {} weights", owner, variables.size(), values.size()));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].type() == variables[i]->type) continue;
    throw Error(fmt::format("{}: the weight {} must be {}, got {}", owner, variables[i]->name,
                            to_string(variables[i]->type), to_string(values[i].type())));
  }
  runtime.synchronize();
  for (std::size_t i = 0; i < values.size(); ++i) runtime.variables().write(*variables[i], values[i]);
}

}  // namespace gpubench
