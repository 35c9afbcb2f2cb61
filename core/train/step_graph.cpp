#include "core/train/step_graph.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

#include "core/base/error.h"
#include "core/graph/exchange_ops.h"
#include "core/graph/gradient_sums.h"
#include "core/graph/leaf_ops.h"
#include "core/nn/kernel_quantizer.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/metric.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "core/ops/state.h"
#include "core/passes/recompute.h"
#include "core/train/exchange.h"

namespace gpubench {
namespace {

const DeviceId& output_device(const Model& model, std::size_t output) {
  return model.calls()[model.outputs()[output]].layer->device();
}

/// The graph's inputs, each on the device that reads it.
StepValues bind_element(Graph& graph, const Model& model, std::span<const TensorType> element, bool labelled) {
  const std::size_t inputs = model.inputs().size(), outputs = model.outputs().size();
  if (element.size() < inputs || (labelled && element.size() != inputs + outputs)) {
    throw Error(fmt::format("model '{}': an element must be {} input{} and {} label{}, got a tuple of {}", model.name(),
                            inputs, inputs == 1 ? "" : "s", outputs, outputs == 1 ? "" : "s", element.size()));
  }
  StepValues bound;
  for (std::size_t i = 0; i < inputs; ++i) {
    const GraphScope scope(graph, model.calls()[model.inputs()[i]].layer->device(), "");
    bound.inputs.push_back(graph.input(element[i], "x"));
  }
  for (std::size_t i = inputs; labelled && i < element.size(); ++i) {
    const GraphScope scope(graph, output_device(model, i - inputs), "");
    bound.labels.push_back(graph.input(element[i], "y"));
  }
  return bound;
}

/// `total`: the examples of all replicas, of which these are one's; 0 for a model alone.
void require_equal_parts(const Model& model, std::span<const TensorType> element, std::int64_t parts,
                         std::int64_t total) {
  for (const TensorType& type : element) {
    if (type.shape.empty() || type.shape[0] % parts == 0) continue;
    if (total > 0) {
      throw Error(fmt::format(
          "model '{}': a replica's {} of a batch of {} examples cannot be accumulated over gradient_accumulation_steps "
          "= {} in equal parts; take batches of which every replica gets a multiple of {}, and leave out a smaller "
          "last "
          "batch by dataset:batch(size, {{ drop_remainder = true }})",
          model.name(), type.shape[0], total, parts, parts));
    }
    throw Error(fmt::format(
        "model '{}': a batch of {} examples cannot be accumulated over gradient_accumulation_steps = {} in equal "
        "parts; "
        "take a batch size that is a multiple of {}, and leave out a smaller last batch by dataset:batch(size, {{ "
        "drop_remainder = true }})",
        model.name(), type.shape[0], parts, parts));
  }
}

StepValues part_of(Graph& graph, const StepValues& whole, std::int64_t index, std::int64_t parts) {
  const auto part = [&](Value value) {
    const GraphScope scope(graph, graph.node(value).device, graph.node(value).label);
    return ops::batch_part(graph, value, index, parts);
  };
  StepValues result;
  for (const Value input : whole.inputs) result.inputs.push_back(part(input));
  for (const Value label : whole.labels) result.labels.push_back(part(label));
  return result;
}

const Loss& loss_of(const CompileConfig& config, std::size_t output) {
  return *config.losses[config.losses.size() == 1 ? 0 : output];
}

/// What goes into the running means of loss and metrics: at once, or, of one replica among others, when all have added
/// up what they have.
class Figures {
 public:
  Figures(const MetricStates& states, bool shared) : states_(states), shared_(shared), sums_(states.size()) {}

  /// Sums are float32, whatever type the model computes in. A scalar is the mean of its batch, and counts for as many
  /// examples.
  void add(Graph& graph, std::size_t index, Value values, std::int64_t batch_size) {
    Value wide = ops::cast(graph, values, Dtype::f32);
    if (graph.type(wide).shape.empty()) wide = ops::broadcast_to(graph, wide, {batch_size});
    if (shared_) {
      sums_[index].push_back(ops::sum_and_count(graph, wide));
    } else {
      ops::accumulate_mean(graph, graph.variable(states_.state(index)), wide);
    }
  }

  /// Begins to add up, with nothing where this replica has no examples.
  void exchange(Graph& graph) {
    for (std::size_t i = 0; shared_ && i < sums_.size(); ++i) {
      const GraphScope scope(graph, states_.state(i)->device, states_.state(i)->name);
      if (sums_[i].empty()) sums_[i].push_back(graph.constant(HostTensor::zeros(states_.state(i)->type)));
      const Value sum =
          sums_[i].size() == 1 ? sums_[i][0] : graph.apply(std::make_shared<const AddN>(), std::span(sums_[i]));
      sums_[i] = {all_reduce(graph, sum, AllReduce::When::in_bucket)};
    }
  }
  void finish(Graph& graph) {
    for (std::size_t i = 0; shared_ && i < sums_.size(); ++i) {
      const GraphScope scope(graph, states_.state(i)->device, states_.state(i)->name);
      ops::assign_add(graph, graph.variable(states_.state(i)), sums_[i][0]);
    }
  }

 private:
  const MetricStates& states_;
  bool shared_;
  std::vector<std::vector<Value>> sums_;  // by state: of each part of the batch, then of all
};

/// The values of output `i`, whose mean joins the scalar that training minimizes.
Value add_loss(Graph& graph, const CompileConfig& config, std::size_t i, const StepValues& step, Value& total) {
  const Value values = loss_of(config, i).call(graph, step.labels[i], step.outputs[i], step.inputs);
  const Value mean = graph.type(values).shape.empty() ? values : ops::reduce_mean(graph, values);
  total = total ? ops::add(graph, total, mean) : mean;
  return values;
}

/// Per-example losses and metrics go into the states; returns the scalar that training minimizes.
Value add_losses(Graph& graph, const Model& model, const CompileConfig& config, Figures& figures,
                 const StepValues& step) {
  Value total;
  std::size_t state = 1;
  const std::size_t outputs = step.outputs.size();
  const std::int64_t batch_size = graph.type(step.outputs[0]).shape[0];
  for (std::size_t i = 0; i < outputs; ++i) {
    const GraphScope scope(graph, output_device(model, i), "loss");
    const Value values = add_loss(graph, config, i, step, total);
    if (outputs == 1) figures.add(graph, 0, values, batch_size);
    for (const MetricPtr& metric : config.metrics) {
      const GraphScope named(graph, output_device(model, i), metric->name());
      figures.add(graph, state++, metric->call(graph, step.labels[i], step.outputs[i]), batch_size);
    }
  }
  if (outputs > 1) {
    const GraphScope scope(graph, output_device(model, 0), "loss");
    figures.add(graph, 0, total, batch_size);
  }
  return total;
}

/// `purpose` ends the sentence "there is no layer 'x' to ...".
void require_layers(const Model& model, const std::vector<std::string>& names, std::string_view purpose) {
  std::vector<std::string> known;
  for (const Model::Call& call : model.calls()) {
    const bool listed = std::ranges::find(known, call.layer->name()) != known.end();
    if (!call.inputs.empty() && !listed) known.push_back(call.layer->name());  // an Input computes nothing
  }
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error(fmt::format("model '{}': there is no layer '{}' to {} (layers: {})", model.name(), name, purpose,
                            fmt::join(known, ", ")));
  }
}

Graph with_recomputed(Graph graph, std::span<const GradientSection> sections, const std::vector<std::string>& layers) {
  const auto drops = [&](const Node& node) {
    // Layers' names may have a '/' of their own.
    return std::ranges::any_of(layers, [&](const std::string& layer) {
      return node.label.starts_with(layer) && (node.label.size() == layer.size() || node.label[layer.size()] == '/');
    });
  };
  return recompute({std::move(graph), {}}, sections, drops).graph;
}

/// The mean over all parts is what their shares add up to.
Value share_of(Graph& graph, Value loss, double share) {
  if (share == 1) return loss;
  const GraphScope scope(graph, graph.node(loss).device, "loss");
  return ops::mul(graph, loss, graph.constant(static_cast<float>(share)));
}

const DeviceId host{};

void require_offloadable(const Model& model, const CompileConfig& config) {
  require_layers(model, config.offload.layers, "offload");
  for (const std::string& name : config.offload.layers) {
    if (std::ranges::find(config.recompute, name) == config.recompute.end()) continue;
    throw Error(
        fmt::format("model '{}': layer '{}' is in recompute and in offload; its activations can be computed "
                    "again or kept on the host, not both",
                    model.name(), name));
  }
}

[[noreturn]] void refuse_offload_from_host(const Model& model, std::string_view which) {
  throw Error(
      fmt::format("model '{}': offload moves activations from a device to the host's memory, and {} on {}, which is "
                  "the host; place "
                  "it on a GPU or on another logical CPU device (gb.config.set_logical_devices, gb.device)",
                  model.name(), which, to_string(host)));
}

}  // namespace

ExecutorOptions training_options(const Model& model, const CompileConfig& config) {
  require_offloadable(model, config);
  ExecutorOptions options = config.executor;
  options.passes.offload = {.layers = config.offload.layers, .ahead = config.offload.ahead};
  for (const Model::Call& call : model.calls()) {
    if (call.inputs.empty()) continue;
    const std::string& name = call.layer->name();
    const bool named = std::ranges::find(config.offload.layers, name) != config.offload.layers.end();
    const bool on_host = call.layer->device() == host;
    if (named && on_host) refuse_offload_from_host(model, fmt::format("layer '{}' is", name));
    const bool again = std::ranges::find(config.recompute, name) != config.recompute.end();
    if (config.offload.all && !on_host && !again) options.passes.offload.layers.push_back(name);
  }
  if (config.offload.all && options.passes.offload.layers.empty() && config.recompute.empty())
    refuse_offload_from_host(model, "all its layers are");
  return options;
}

std::vector<TensorType> with_rows(std::span<const TensorType> element, std::int64_t rows) {
  std::vector<TensorType> types(element.begin(), element.end());
  for (TensorType& type : types) {
    if (!type.shape.empty()) type.shape[0] = rows;
  }
  return types;
}

std::vector<std::string> metric_names(const Model& model, const CompileConfig& config) {
  std::vector<std::string> names = {"loss"};
  const bool several = model.outputs().size() > 1;
  for (const std::size_t output : model.outputs()) {
    for (const MetricPtr& metric : config.metrics) {
      names.push_back(several ? model.calls()[output].layer->name() + "_" + metric->name() : metric->name());
    }
  }
  return names;
}

namespace {

/// A training step up to its gradients.
struct Gradients {
  std::vector<Value> values;         ///< by trainable variable; none where the loss does not depend on it
  std::vector<VariablePtr> updated;  ///< others that layers have updated
  std::vector<GradientSection> sections{};
};

Gradients add_backward(Graph& graph, const Model& model, const CompileConfig& config, Figures& figures,
                       std::span<const TensorType> element, const std::optional<BatchShare>& share) {
  const StepValues whole = bind_element(graph, model, element, true);
  const Value counter = graph.variable(config.optimizer->iterations());
  std::vector<Value> values;
  for (const VariablePtr& variable : model.trainable_variables()) values.push_back(graph.variable(variable));

  const LossScale* const scale = config.loss_scale.get();
  const double weight = share ? weight_of(*share) : 1;
  const std::int64_t parts = config.gradient_accumulation_steps;
  require_equal_parts(model, element, parts, share ? share->total : 0);
  require_layers(model, config.recompute, "recompute");
  const auto count = [&] { return static_cast<std::int32_t>(graph.nodes().size()); };
  Gradients result{.values = std::vector<Value>(values.size()), .updated = {}};
  for (std::int64_t index = 0; index < parts; ++index) {
    GradientSection section{.first = count()};
    StepValues part = part_of(graph, whole, index, parts);
    const Shape& shape = graph.type(part.inputs[0]).shape;
    const std::int64_t rows = shape.empty() ? 0 : shape[0];
    const CallContext context{.graph = graph,
                              .training = true,
                              .step = counter,
                              .first_row = (share ? share->first : 0) + index * rows,
                              .first_node = graph.nodes().size(),
                              .replica_rows = share ? share->total / parts : 0};
    part.outputs = model.call(context, part.inputs);
    const Value loss =
        share_of(graph, add_losses(graph, model, config, figures, part), weight / static_cast<double>(parts));
    section.middle = count();
    result.values = add_gradients(graph, scale ? scale->scaled(graph, loss) : loss, values, result.values);
    section.last = count();
    result.sections.push_back(section);
  }
  result.updated = updated_variables(graph, model.variables());
  return result;
}

/// A replica without examples takes part in the exchanges of the others' forward pass, which all come before those of
/// gradients. In a backward pass the others do both in an order that a replica without one does not have.
void exchange_nothing(Graph& graph, const Model& model, const Graph& other, std::span<const GradientSection> sections) {
  for (std::int32_t index = 0; index < static_cast<std::int32_t>(other.nodes().size()); ++index) {
    const Node& node = other.node(Value{index, 0});
    const auto* const op = dynamic_cast<const AllReduce*>(node.op.get());
    if (op == nullptr) continue;
    const bool backward = std::ranges::any_of(
        sections, [&](const GradientSection& section) { return section.middle <= index && index < section.last; });
    if (backward) {
      throw Error(
          fmt::format("model '{}': '{}' exchanges what its replicas know of the batch, and so small a batch leaves "
                      "a replica without examples; leave it out by dataset:batch(size, {{ drop_remainder = true }})",
                      model.name(), node.label));
    }
    const GraphScope scope(graph, node.device, node.label);
    std::vector<Value> nothing;
    for (const TensorType& type : node.outputs) {
      const float least = op->of == AllReduce::Of::sum ? 0 : -std::numeric_limits<float>::infinity();
      nothing.push_back(computed_filled(graph, type, least));
    }
    graph.apply(node.op, nothing);
  }
}

/// What a replica without examples adds: zeros where others have something.
Gradients add_nothing(Graph& graph, const Model& model, const CompileConfig& config, const MetricStates& metrics,
                      std::span<const TensorType> element) {
  Graph other;
  Figures figures(metrics, true);
  const std::int64_t rows = config.gradient_accumulation_steps;
  const BatchShare any{.first = 0, .rows = rows, .total = rows};
  const Gradients gradients = add_backward(other, model, config, figures, with_rows(element, rows), any);
  exchange_nothing(graph, model, other, gradients.sections);
  Gradients nothing{.values = std::vector<Value>(gradients.values.size()), .updated = gradients.updated};
  for (std::size_t i = 0; i < nothing.values.size(); ++i) {
    if (!gradients.values[i]) continue;
    const GraphScope scope(graph, other.node(gradients.values[i]).device, other.node(gradients.values[i]).label);
    nothing.values[i] = computed_filled(graph, other.type(gradients.values[i]), 0);
  }
  return nothing;
}

}  // namespace

StepGraph training_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                         std::span<const TensorType> element, const std::optional<BatchShare>& share) {
  StepGraph step;
  Graph& graph = step.graph;
  Figures figures(metrics, share.has_value());
  Gradients gradients = share && share->rows == 0
                            ? add_nothing(graph, model, config, metrics, element)
                            : add_backward(graph, model, config, figures,
                                           share ? with_rows(element, share->rows)
                                                 : std::vector<TensorType>(element.begin(), element.end()),
                                           share);
  std::vector<Value> statistics;
  if (share) {
    gradients.values = exchange_gradients(graph, gradients.values, config.replicas->options().compression);
    statistics = exchange_variables(graph, gradients.updated, weight_of(*share));
    figures.exchange(graph);
  }
  const std::vector<VariablePtr> variables = model.trainable_variables();
  if (config.loss_scale) config.loss_scale->apply_scaled(graph, *config.optimizer, gradients.values, variables);
  if (!config.loss_scale) config.optimizer->apply_gradients(graph, gradients.values, variables);
  if (share) assign_variables(graph, gradients.updated, statistics);
  figures.finish(graph);
  if (!config.recompute.empty()) graph = with_recomputed(std::move(graph), gradients.sections, config.recompute);
  return step;
}

StepGraph evaluation_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                           std::span<const TensorType> element, const std::optional<BatchShare>& share) {
  StepGraph step;
  Figures figures(metrics, share.has_value());
  if (!share || share->rows > 0) {
    const std::int64_t rows = share                                         ? share->rows
                              : element.empty() || element[0].shape.empty() ? 1
                                                                            : element[0].shape[0];
    StepValues values = bind_element(step.graph, model, with_rows(element, rows), true);
    values.outputs = model.call({step.graph}, values.inputs);
    add_losses(step.graph, model, config, figures, values);
  }
  figures.exchange(step.graph);
  figures.finish(step.graph);
  return step;
}

StepGraph prediction_graph(const Model& model, std::span<const TensorType> element) {
  StepGraph step;
  const StepValues bound = bind_element(step.graph, model, element, false);
  step.outputs = model.call({step.graph}, bound.inputs);
  return step;
}

void require_gradients(const Model& model) {
  for (const LayerPtr& layer : model.layers()) {
    if (layer->precision() != "int8") continue;
    throw Error(fmt::format("model '{}': layer '{}' {}", model.name(), layer->name(), KernelQuantizer::untrainable));
  }
}

Value total_loss(Graph& graph, const Model& model, const CompileConfig& config, const StepValues& step) {
  Value total;
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const GraphScope scope(graph, output_device(model, i), "loss");
    add_loss(graph, config, i, step, total);
  }
  return total;
}

}  // namespace gpubench
