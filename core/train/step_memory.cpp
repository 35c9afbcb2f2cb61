#include "core/train/step_memory.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/exec/replicated_executor.h"
#include "core/exec/run/graph_executor.h"

namespace gpubench {
namespace {

void require_compiled(const Trainer& trainer) {
  const CompileConfig& config = trainer.config();
  if (config.optimizer && (config.train_step || !config.losses.empty())) return;
  throw Error(fmt::format("model '{}': has not been compiled; its memory depends on the optimizer and the loss",
                          trainer.model().name()));
}

/// The optimizer's variables, as a replica has them.
std::vector<VariablePtr> replica_state(Trainer& trainer, int replica) {
  std::vector<VariablePtr> state = optimizer_state(trainer.model(), trainer.config());
  for (VariablePtr& variable : state) {
    if (replica > 0)
      variable = trainer.config().replicas->mirrored(variable)->mirrors[static_cast<std::size_t>(replica)];
  }
  return state;
}

}  // namespace

std::vector<DeviceMemory> predict_training_memory(Trainer& trainer, TensorTypes element) {
  require_compiled(trainer);
  trainer.build(element);
  return trainer.planner().training_memory(element);
}

std::vector<DeviceMemory> training_memory(Trainer& trainer) {
  trainer.planner().require_graph();
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
    if (!losses.empty() && losses[losses.size() == 1 ? 0 : output++]->takes_class_indices()) {
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

}  // namespace gpubench
