#include "core/train/step_memory.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/data/dataset.h"
#include "core/exec/replicated_executor.h"
#include "core/exec/run/graph_executor.h"
#include "core/train/recompute_choice.h"

namespace gpubench {
namespace {

/// Variables without memory.
class PlannedVariables final : public VariableFactory {
 public:
  VariablePtr create(std::string name, const HostTensor& initial, const DeviceId& device, bool trainable,
                     OwnerPtr owner) override {
    return std::make_shared<const Variable>(
        Variable{-1, std::move(name), initial.type(), device, trainable, std::move(owner)});
  }
  std::uint64_t next_seed() override { return 0; }
};

OptimizerPtr unbuilt_copy(const Optimizer& optimizer) {
  const auto& kinds = optimizer_kinds();
  const auto kind = std::ranges::find(kinds, optimizer.name(), &OptimizerKind::name);
  OptimizerPtr copy = kind->make(optimizer.config(), optimizer.schedule());
  copy->exclude_from_weight_decay(optimizer.excluded_from_weight_decay());
  return copy;
}

std::vector<VariablePtr> optimizer_state(const CompileConfig& config, const Model& model) {
  std::vector<VariablePtr> state = config.optimizer->state_of(model.trainable_variables());
  if (config.loss_scale) std::ranges::copy(config.loss_scale->variables(), std::back_inserter(state));
  return state;
}

void require_graph(const Trainer& trainer) {
  if (trainer.config().executor.execution == Execution::graph) return;
  throw Error(fmt::format(
      "model '{}': its memory is planned in graph execution only; it is compiled for eager execution, which "
      "takes what each op needs when it runs",
      trainer.model().name()));
}

void require_compiled(const Trainer& trainer) {
  if (trainer.config().optimizer && !trainer.config().losses.empty()) return;
  throw Error(fmt::format("model '{}': has not been compiled; its memory depends on the optimizer and the loss",
                          trainer.model().name()));
}

struct PlannedStepMemory {
  std::vector<DeviceMemory> memory;
  double recomputed_flops = 0;
};

double recomputed_flops(const Graph& graph) {
  double flops = 0;
  for (const Node& node : graph.nodes()) {
    if (node.role != Role::recomputed) continue;
    std::vector<TensorType> inputs;
    for (const Value input : node.inputs) inputs.push_back(graph.type(input));
    flops += node.op->flops(inputs, node.outputs);
  }
  return flops;
}

/// The step of training, for variables that have no memory.
struct DryStep {
  CompileConfig config;
  StepGraph graph;
};

DryStep dry_step(Trainer& trainer, CompileConfig config, std::span<const TensorType> element,
                 const std::optional<BatchShare>& share = {}) {
  const Model& model = trainer.model();
  require_gradients(model);
  PlannedVariables variables;
  config.optimizer = unbuilt_copy(*config.optimizer);
  config.optimizer->build(variables, model.trainable_variables());
  if (config.loss_scale) {
    config.loss_scale = std::make_shared<LossScale>(*config.loss_scale);
    config.loss_scale->build(variables, config.optimizer->iterations()->device);
  }
  const DeviceId& device = model.calls()[model.outputs()[0]].layer->device();
  const MetricStates metrics(trainer.runtime(), variables, figures_of(model, config), device);
  StepGraph graph = training_graph(model, config, metrics, element, share);
  return {std::move(config), std::move(graph)};
}

/// For a model without replicas, or for the replica with the largest share of the batch, as if it were on the first
/// device.
PlannedStepMemory plan_with(Trainer& trainer, CompileConfig asked, std::span<const TensorType> element) {
  const Model& model = trainer.model();
  std::optional<BatchShare> share;
  if (asked.replicas && !element.empty() && !element[0].shape.empty()) {
    const std::int64_t rows = element[0].shape[0];
    share = std::ranges::max(asked.replicas->split({.first = 0, .rows = rows, .total = rows}), {}, &BatchShare::rows);
  }
  auto [config, step] = dry_step(trainer, std::move(asked), element, share);
  const double flops = recomputed_flops(step.graph);
  const Devices& devices = trainer.runtime().devices();
  const PlannedProgram planned =
      plan_program(devices, std::move(step.graph), std::move(step.outputs), training_executor_options(model, config));
  return {memory_of(planned.plan, devices, planned.feed, optimizer_state(config, model)), flops};
}

/// The optimizer's variables, as a replica has them.
std::vector<VariablePtr> replica_state(Trainer& trainer, int replica) {
  std::vector<VariablePtr> state = optimizer_state(trainer.config(), trainer.model());
  for (VariablePtr& variable : state) {
    if (replica > 0)
      variable = trainer.config().replicas->mirrored(variable)->mirrors[static_cast<std::size_t>(replica)];
  }
  return state;
}

/// The layers that may be recomputed: all except inputs, outputs and offloaded layers, in the order of the model.
std::vector<OwnerPtr> inner_layers(const Model& model, const std::vector<std::string>& offloaded) {
  std::vector<OwnerPtr> inner;
  for (std::size_t call = 0; call < model.calls().size(); ++call) {
    const OwnerPtr& layer = model.calls()[call].layer->owner();
    const bool output = std::ranges::find(model.outputs(), call) != model.outputs().end();
    const bool known = std::ranges::find(inner, layer) != inner.end();  // a layer may be called several times
    const bool on_host = std::ranges::find(offloaded, layer->name) != offloaded.end();
    if (!model.calls()[call].inputs.empty() && !output && !known && !on_host) inner.push_back(layer);
  }
  return inner;
}

}  // namespace

CompileConfig recomputed_within(Trainer& trainer, std::span<const TensorType> element) {
  CompileConfig config = trainer.config();
  const std::size_t budget = config.recompute_budget;
  if (budget == 0) return config;
  require_graph(trainer);
  const std::size_t kept = total(plan_with(trainer, config, element).memory);
  if (kept <= budget) return config;
  const std::vector<LayerWork> layers = work_of_layers(dry_step(trainer, config, element).graph.graph,
                                                       inner_layers(trainer.model(), config.offload.layers));
  const RecomputeChoice choice = choose_recomputed(layers, budget, [&](const std::vector<std::string>& names) {
    CompileConfig candidate = config;
    candidate.recompute = names;
    const PlannedStepMemory planned = plan_with(trainer, std::move(candidate), element);
    return RecomputePlan{total(planned.memory), planned.recomputed_flops};
  });
  config.recompute = choice.layers;
  if (choice.fits) return config;
  throw OverRecomputeBudget(fmt::format(
      "model '{}': no choice of layers to recompute brings a training step within recompute_budget = {}; the "
      "least that was found is {}",
      trainer.model().name(), format_bytes(static_cast<double>(budget)),
      format_bytes(static_cast<double>(std::min(kept, choice.least_bytes)))));
}

std::vector<DeviceMemory> predict_training_memory(Trainer& trainer, std::span<const TensorType> element) {
  require_compiled(trainer);
  require_graph(trainer);
  trainer.build(element);
  return plan_with(trainer, recomputed_within(trainer, element), element).memory;
}

std::vector<DeviceMemory> training_memory(Trainer& trainer) {
  require_graph(trainer);
  std::vector<DeviceMemory> most;
  for (const StepPlan* plan : trainer.training_plans()) {
    auto* const replicated = dynamic_cast<ReplicatedExecutor*>(plan->executor.get());
    const int replicas = replicated == nullptr ? 1 : trainer.config().replicas->size();
    for (int replica = 0; replica < replicas; ++replica) {
      const Executor& own = replicated == nullptr ? *plan->executor : replicated->replica(replica);
      const auto& executor = dynamic_cast<const GraphExecutor&>(own);
      auto memory =
          memory_of(executor.plan(), trainer.runtime().devices(), executor.feed(), replica_state(trainer, replica));
      if (total(memory) > total(most)) most = std::move(memory);
    }
  }
  return most;
}

std::vector<TensorType> batch_types(const Trainer& trainer, std::int64_t batch_size) {
  require_compiled(trainer);
  const Model& model = trainer.model();
  if (!model.defined()) {
    throw Error(fmt::format("model '{}': its input is not known yet; give the first layer an input_shape, or a dataset",
                            model.name()));
  }
  std::vector<TensorType> types = model.input_types();
  std::size_t output = 0;
  for (TensorType type : model.output_types()) {
    const std::vector<LossPtr>& losses = trainer.config().losses;
    if (losses[losses.size() == 1 ? 0 : output++]->takes_class_indices()) {
      type.shape.pop_back();
      type.dtype = Dtype::i64;
    }
    types.push_back(std::move(type));
  }
  for (TensorType& type : types) {
    type.shape.insert(type.shape.begin(), batch_size);
    if (is_floating(type.dtype)) type.dtype = Dtype::f32;  // as data mostly is; the step casts it
  }
  return types;
}

std::vector<TensorType> batch_types(const Dataset& dataset) {
  std::vector<TensorType> types = dataset.element_types();
  for (TensorType& type : types) {
    if (!type.shape.empty() && type.shape[0] == varying) type.shape[0] = dataset.examples_per_element();
    if (std::ranges::find(type.shape, varying) == type.shape.end()) continue;
    throw Error(fmt::format("the memory of a step can be planned for one size of examples only; the dataset gives {}",
                            to_string(dataset.element_types())));
  }
  return types;
}

std::size_t total(std::span<const DeviceMemory> memory) {
  std::size_t bytes = 0;
  for (const DeviceMemory& device : memory) bytes += device.total();
  return bytes;
}

}  // namespace gpubench
