#include "core/train/step_graph.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "core/base/error.h"
#include "core/graph/exchange_ops.h"
#include "core/graph/gradients.h"
#include "core/nn/regularizer.h"
#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"
#include "core/passes/recompute.h"
#include "core/train/exchange.h"

namespace gpubench {
namespace {

/// A training step up to its gradients.
struct StepGradients {
  std::vector<Value> values;         ///< by trainable variable; none where the loss does not depend on it
  std::vector<VariablePtr> updated;  ///< others that layers have updated
  std::vector<GradientSection> sections{};
};

/// `total`: the examples of all replicas, of which these are one's; 0 for a model alone.
void require_equal_parts(const Model& model, TensorTypes element, std::int64_t parts, std::int64_t total) {
  for (const TensorType& type : element) {
    if (type.shape.empty() || type.shape[0] % parts == 0) continue;
    if (total > 0) {
      throw Error(fmt::format(
          "model '{}': a replica's {} of a batch of {} examples cannot be accumulated over gradient_accumulation_steps "
          "= {} in equal parts; take batches of which every replica gets a multiple of {}, and leave out a smaller "
          "last batch by dataset:batch(size, {{ drop_remainder = true }})",
          model.name(), type.shape[0], total, parts, parts));
    }
    throw Error(fmt::format(
        "model '{}': a batch of {} examples cannot be accumulated over "
        "gradient_accumulation_steps = {} in equal parts; "
        "take a batch size that is a multiple of {}, and leave out a smaller last batch by dataset:batch(size, {{ "
        "drop_remainder = true }})",
        model.name(), type.shape[0], parts, parts));
  }
}

const std::function<void(const std::string&)>* warn_of(const CompileConfig& config) {
  return config.warn ? &config.warn : nullptr;
}

StepValues part_of(Graph& graph, const StepValues& whole, std::int64_t index, std::int64_t parts) {
  const auto part = [&](Value value) {
    const GraphScope scope(graph, graph.node(value));
    return ops::batch_part(graph, value, index, parts);
  };
  StepValues result;
  for (const Value input : whole.inputs) result.inputs.push_back(part(input));
  for (const Value label : whole.labels) result.labels.push_back(part(label));
  for (const Value weight : whole.weights) result.weights.push_back(part(weight));
  return result;
}

/// The mean over all parts is what their shares add up to.
Value share_of(Graph& graph, Value loss, double share) {
  if (share == 1) return loss;
  const GraphScope scope(graph, graph.node(loss).device, loss_owner());
  return ops::mul(graph, loss, graph.constant(static_cast<float>(share)));
}

/// The graph's variables so far are what the model reads. A weight that none of its layers has would not be trained.
void require_own_weights(const Graph& graph, const Model& model) {
  const std::vector<VariablePtr> own = model.variables();
  for (const VariablePtr& variable : graph.variables()) {
    if (!variable->trainable || std::ranges::find(own, variable) != own.end()) continue;
    throw Error(fmt::format(
        "model '{}': a function of one of its layers reads '{}', which is no weight of the model and would not be "
        "trained; make it by self:add_weight of a custom layer, or with trainable = false",
        model.name(), variable->name));
  }
}

StepGradients add_backward(Graph& graph, const Model& model, const CompileConfig& config, Figures& figures,
                           TensorTypes element, const std::optional<BatchShare>& share) {
  StepValues whole = bind_element(graph, model, element, true);
  weigh_classes(graph, model, config.class_weights, whole);
  whole.penalty = sum_of_penalties(graph, penalties(graph, model.layers()));
  const Value counter = graph.variable(config.optimizer->iterations());
  graph.set_step(counter);
  std::vector<Value> values;
  for (const VariablePtr& variable : model.trainable_variables()) values.push_back(graph.variable(variable));

  const LossScale* const scale = config.loss_scale.get();
  const double weight = share ? weight_of(*share) : 1;
  const std::int64_t parts = config.gradient_accumulation_steps;
  require_equal_parts(model, element, parts, share ? share->total : 0);
  std::optional<ReplicaCall> replica;
  if (share) replica = ReplicaCall{.batch_rows = share->total / parts};
  const auto count = [&] { return static_cast<std::int32_t>(graph.nodes().size()); };
  StepGradients result{.values = std::vector<Value>(values.size()), .updated = {}};
  for (std::int64_t index = 0; index < parts; ++index) {
    GradientSection section{.first = count()};
    StepValues part = part_of(graph, whole, index, parts);
    const Shape& shape = graph.type(part.inputs[0]).shape;
    const std::int64_t rows = shape.empty() ? 0 : shape[0];
    part.batch_rows = share ? share->total : rows * parts;
    part.penalty = whole.penalty;
    std::vector<Value> losses;
    const CallContext context{.graph = graph,
                              .training = true,
                              .step = counter,
                              .first_row = (share ? share->first : 0) + index * rows,
                              .first_node = graph.nodes().size(),
                              .replica = replica,
                              .losses = &losses,
                              .warn = warn_of(config)};
    if (share) part.replica_share = weight;
    part.take(model.call(context, part.inputs));
    part.added = sum_of_penalties(graph, losses);
    if (index == 0) require_own_weights(graph, model);
    Value loss = share_of(graph, add_losses(graph, model, config, figures, part), weight / static_cast<double>(parts));
    if (whole.penalty && index == 0) loss = with_penalty(graph, loss, share_of(graph, whole.penalty, weight));
    section.middle = count();
    result.values = add_gradients(graph, scale ? scale->scaled(graph, loss) : loss, values, result.values);
    section.last = count();
    result.sections.push_back(section);
  }
  result.updated = updated_variables(graph, model.variables());
  return result;
}

/// Adds the exchanges of `other`, the graph of a replica with examples, with operands that change no result. All come
/// before those of gradients, which holds for exchanges of the forward pass only; others are refused.
void exchange_nothing(Graph& graph, const Model& model, const Graph& other) {
  for (const Node& node : other.nodes()) {
    const auto* const op = op_as<AllReduce>(node);
    if (op == nullptr) continue;
    if (node.role == Role::gradient) {
      throw Error(
          fmt::format("model '{}': '{}' exchanges what its replicas know of the batch, and so small a batch leaves "
                      "a replica without examples; leave it out by dataset:batch(size, {{ drop_remainder = true }})",
                      model.name(), node.label));
    }
    const GraphScope scope(graph, node);
    std::vector<Value> nothing;
    for (const TensorType& type : node.outputs) {
      const float least = op->reduction == Reduction::sum ? 0 : -std::numeric_limits<float>::infinity();
      nothing.push_back(computed_filled(graph, type, least));
    }
    graph.apply(node.op, nothing);
  }
}

/// The gradients of a replica without examples: zeros. A temporary backward graph of a replica with examples determines
/// which gradients exist.
StepGradients add_nothing(Graph& graph, const Model& model, const CompileConfig& config, const MetricStates& metrics,
                          TensorTypes element) {
  Graph other;
  Figures figures(metrics, true);
  const std::int64_t rows = config.gradient_accumulation_steps;
  const BatchShare any{.first = 0, .rows = rows, .total = rows};
  const StepGradients gradients = add_backward(other, model, config, figures, with_rows(element, rows), any);
  exchange_nothing(graph, model, other);
  StepGradients nothing{.values = std::vector<Value>(gradients.values.size()), .updated = gradients.updated};
  for (std::size_t i = 0; i < nothing.values.size(); ++i) {
    if (!gradients.values[i]) continue;
    const GraphScope scope(graph, other.node(gradients.values[i]));
    nothing.values[i] = computed_filled(graph, other.type(gradients.values[i]), 0);
  }
  return nothing;
}

/// For the whole element, or for a replica's rows given by `share`.
StepGradients gradients_of_step(Graph& graph, const Model& model, const CompileConfig& config,
                                const MetricStates& metrics, Figures& figures, TensorTypes element,
                                const std::optional<BatchShare>& share) {
  if (!share) return add_backward(graph, model, config, figures, element, share);
  if (share->rows == 0) return add_nothing(graph, model, config, metrics, element);
  return add_backward(graph, model, config, figures, with_rows(element, share->rows), share);
}

}  // namespace

StepGraph training_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                         TensorTypes element, const std::optional<BatchShare>& share) {
  StepGraph step;
  Graph& graph = step.graph;
  Figures figures(metrics, share.has_value());
  const std::vector<OwnerPtr> recomputed = layers_named(model, config.recompute, "recompute");
  StepGradients gradients = gradients_of_step(graph, model, config, metrics, figures, element, share);
  std::vector<Value> statistics;
  const std::vector<VariablePtr> trained = model.trainable_variables();
  for (std::size_t i = 0; i < trained.size(); ++i) {
    if (!gradients.values[i]) step.unreached.push_back(trained[i]);
  }
  if (share) {
    gradients.values = exchange_gradients(graph, gradients.values, config.replicas->options().compression);
    statistics = exchange_variables(graph, gradients.updated, weight_of(*share));
    figures.exchange(graph);
  }
  if (config.loss_scale) config.loss_scale->apply_scaled(graph, *config.optimizer, gradients.values, trained);
  if (!config.loss_scale) config.optimizer->apply_gradients(graph, gradients.values, trained);
  if (share) assign_variables(graph, gradients.updated, statistics);
  figures.finish(graph);
  if (recomputed.empty()) return step;
  const auto drops = [&](const Node& node) { return std::ranges::find(recomputed, node.owner) != recomputed.end(); };
  graph = recompute({std::move(graph), {}}, gradients.sections, drops).graph;
  return step;
}

StepGraph evaluation_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                           TensorTypes element, const std::optional<BatchShare>& share) {
  StepGraph step;
  Figures figures(metrics, share.has_value());
  const auto add = [&](Graph& graph, Figures& into, std::int64_t rows) {
    StepValues values = bind_element(graph, model, with_rows(element, rows), true);
    std::vector<Value> losses;
    values.take(model.call({.graph = graph, .losses = &losses, .warn = warn_of(config)}, values.inputs));
    values.added = sum_of_penalties(graph, losses);
    values.penalty = sum_of_penalties(graph, penalties(graph, model.layers()));
    if (share) values.batch_rows = share->total;
    if (share) values.replica_share = weight_of(*share);
    add_losses(graph, model, config, into, values);
  };
  if (share && share->rows == 0) {
    Graph other;
    Figures unused(metrics, true);
    add(other, unused, 1);
    exchange_nothing(step.graph, model, other);
  } else {
    const std::int64_t here = element.empty() || element[0].shape.empty() ? 1 : element[0].shape[0];
    add(step.graph, figures, share ? share->rows : here);
  }
  figures.exchange(step.graph);
  figures.finish(step.graph);
  return step;
}

StepGraph prediction_graph(const Model& model, TensorTypes element) {
  StepGraph step;
  const StepValues bound = bind_element(step.graph, model, element, false);
  step.outputs = model.call({step.graph}, bound.inputs).values;
  return step;
}

}  // namespace gpubench
