#include "core/train/step_planner.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/units.h"
#include "core/exec/replicated_executor.h"
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
  copy->take_groups_of(optimizer);
  return copy;
}

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

CustomStepPtr custom_step(const CompileConfig& config, StepPhase phase) {
  if (phase == StepPhase::prediction) return nullptr;
  return phase == StepPhase::training ? config.train_step : config.test_step;
}

StepGraph StepPlanner::graph(StepPhase phase, const CompileConfig& config, const MetricStates* metrics,
                             const std::vector<TensorType>& element, const std::optional<BatchShare>& share) const {
  const CustomStepPtr own = custom_step(config, phase);
  if (own && phase == StepPhase::training) require_plain_step(model_, config);
  if (own) return {own->graph(share ? with_rows(element, share->rows) : element, share), {}};
  switch (phase) {
    case StepPhase::training:
      return training_graph(model_, config, *metrics, element, share);
    case StepPhase::evaluation:
      return evaluation_graph(model_, config, *metrics, element, share);
    case StepPhase::prediction:
      break;
  }
  return prediction_graph(model_, element);
}

std::unique_ptr<Executor> StepPlanner::replicated(StepPhase phase, StepPlan& plan, const CompileConfig& config,
                                                  const MetricStates* metrics, const ExecutorOptions& options) const {
  std::vector<BatchShare> shares = config.replicas->split(*plan.key.share);
  const std::vector<TensorType>& types = plan.key.types;
  // A single replica exchanges nothing: its step is that of a model alone.
  const bool alone = config.replicas->world_size() == 1;
  std::vector<ReplicaGraph> graphs;
  for (const BatchShare& share : shares) {
    StepGraph step;
    if (phase != StepPhase::prediction) {
      step = graph(phase, config, metrics, types, alone ? std::nullopt : std::optional(share));
    } else if (share.rows > 0) {
      step = graph(phase, config, metrics, with_rows(types, share.rows), {});
    }
    if (share.rows > 0 && plan.unreached.empty()) plan.unreached = std::move(step.unreached);
    graphs.push_back({std::move(step.graph), std::move(step.outputs)});
  }
  return std::make_unique<ReplicatedExecutor>(config.replicas, std::move(graphs), std::move(shares), options);
}

std::unique_ptr<Executor> StepPlanner::executor(StepPhase phase, StepPlan& plan, const MetricStates* metrics,
                                                const ExecutorOptions& options) const {
  const CompileConfig config = phase == StepPhase::training ? recomputed_within(plan.key.types) : config_;
  if (plan.key.share) return replicated(phase, plan, config, metrics, options);
  StepGraph step = graph(phase, config, metrics, plan.key.types, {});
  plan.unreached = std::move(step.unreached);
  return make_executor(runtime_, std::move(step.graph), std::move(step.outputs), options);
}

std::unique_ptr<StepPlan> StepPlanner::plan(StepPhase phase, const StepKey& key, const DeviceId* device,
                                            const MetricStates* metrics) const {
  auto plan = std::make_unique<StepPlan>();
  plan->key = key;
  plan->on_device = device != nullptr;
  ExecutorOptions options =
      phase == StepPhase::training ? training_executor_options(model_, config_) : config_.executor;
  options.inputs_on_device = options.inputs_in_place = plan->on_device;
  if (key.share) {
    if (plan->on_device) {
      throw Error(
          fmt::format("model '{}': has replicas, and the dataset's elements are on {}; they have to be in host "
                      "memory, from where each replica takes its part: leave out prefetch_to_device",
                      model_.name(), to_string(*device)));
    }
    options.passes.bucket_bytes = config_.replicas->options().bucket_bytes;
  }
  plan->executor = executor(phase, *plan, metrics, options);
  if (phase == StepPhase::prediction || custom_step(config_, phase)) return plan;
  if (plan->on_device) return plan;  // the host cannot look at the labels there
  for (std::size_t i = 0; i < model_.outputs().size(); ++i) {
    const Loss& loss = *config_.losses[config_.losses.size() == 1 ? 0 : i];
    if (!loss.takes_class_indices()) continue;
    const std::int64_t classes = model_.output_types()[i].shape.back();
    plan->checks.push_back({loss.name(), model_.inputs().size() + i, classes, loss.ignored_class()});
  }
  return plan;
}

void StepPlanner::require_graph() const {
  if (config_.executor.execution == Execution::graph) return;
  throw Error(fmt::format(
      "model '{}': its memory is planned in graph execution only; it is compiled for eager execution, which "
      "takes what each op needs when it runs",
      model_.name()));
}

struct StepPlanner::DryPlan {
  std::vector<DeviceMemory> memory;
  double recomputed_flops = 0;
};

/// The step of training, for variables that have no memory.
struct StepPlanner::DryStep {
  CompileConfig config;
  StepGraph graph;
};

StepPlanner::DryStep StepPlanner::dry_step(CompileConfig config, TensorTypes element,
                                           const std::optional<BatchShare>& share) const {
  if (config.train_step) {
    StepGraph graph = this->graph(StepPhase::training, config, nullptr, {element.begin(), element.end()}, share);
    return {std::move(config), std::move(graph)};
  }
  require_gradients(model_);
  PlannedVariables variables;
  config.optimizer = unbuilt_copy(*config.optimizer);
  config.optimizer->build(variables, model_.trainable_variables());
  if (config.loss_scale) {
    config.loss_scale = std::make_shared<LossScale>(*config.loss_scale);
    config.loss_scale->build(variables, config.optimizer->iterations()->device);
  }
  const DeviceId& device = model_.calls()[model_.outputs()[0]].layer->device();
  const MetricStates metrics(runtime_, variables, figures_of(model_, config), device);
  StepGraph graph = training_graph(model_, config, metrics, element, share);
  return {std::move(config), std::move(graph)};
}

/// For a model without replicas, or for the replica with the largest share of the batch, as if it were on the first
/// device.
StepPlanner::DryPlan StepPlanner::dry_plan(CompileConfig asked, TensorTypes element) const {
  std::optional<BatchShare> share;
  if (asked.replicas && !element.empty() && !element[0].shape.empty()) {
    const std::int64_t rows = element[0].shape[0];
    share = std::ranges::max(asked.replicas->split({.first = 0, .rows = rows, .total = rows}), {}, &BatchShare::rows);
  }
  auto [config, step] = dry_step(std::move(asked), element, share);
  const double flops = recomputed_flops(step.graph);
  const Devices& devices = runtime_.devices();
  const PlannedProgram planned =
      plan_program(devices, std::move(step.graph), std::move(step.outputs), training_executor_options(model_, config));
  return {memory_of(planned.plan, devices, planned.feed, optimizer_state(model_, config)), flops};
}

CompileConfig StepPlanner::recomputed_within(TensorTypes element) const {
  CompileConfig config = config_;
  const std::size_t budget = config.recompute_budget;
  if (budget == 0) return config;
  require_graph();
  const std::size_t kept = total(dry_plan(config, element).memory);
  if (kept <= budget) return config;
  const std::vector<LayerWork> layers =
      work_of_layers(dry_step(config, element).graph.graph, inner_layers(model_, config.offload.layers));
  const RecomputeChoice choice = choose_recomputed(layers, budget, [&](const std::vector<std::string>& names) {
    CompileConfig candidate = config;
    candidate.recompute = names;
    const DryPlan planned = dry_plan(std::move(candidate), element);
    return RecomputePlan{total(planned.memory), planned.recomputed_flops};
  });
  config.recompute = choice.layers;
  if (choice.fits) return config;
  throw OverRecomputeBudget(fmt::format(
      "model '{}': no choice of layers to recompute brings a training step within recompute_budget = {}; the "
      "least that was found is {}",
      model_.name(), format_bytes(static_cast<double>(budget)),
      format_bytes(static_cast<double>(std::min(kept, choice.least_bytes)))));
}

std::vector<DeviceMemory> StepPlanner::training_memory(TensorTypes element) const {
  require_graph();
  return dry_plan(recomputed_within(element), element).memory;
}

}  // namespace gpubench
