#include "core/train/step_graph.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/graph/gradient_sums.h"
#include "core/nn/kernel_quantizer.h"
#include "core/ops/binary.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "core/ops/state.h"
#include "core/passes/recompute.h"

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

void require_equal_parts(const Model& model, std::span<const TensorType> element, std::int64_t parts) {
  for (const TensorType& type : element) {
    if (type.shape.empty() || type.shape[0] % parts == 0) continue;
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

/// Sums are float32, whatever type the model computes in. A scalar is the mean of its batch, and counts for as many
/// examples.
void accumulate(Graph& graph, const VariablePtr& state, Value values, std::int64_t batch_size) {
  Value wide = ops::cast(graph, values, Dtype::f32);
  if (graph.type(wide).shape.empty()) wide = ops::broadcast_to(graph, wide, {batch_size});
  ops::accumulate_mean(graph, graph.variable(state), wide);
}

/// The values of output `i`, whose mean joins the scalar that training minimizes.
Value add_loss(Graph& graph, const CompileConfig& config, std::size_t i, const StepValues& step, Value& total) {
  const Value values = loss_of(config, i).call(graph, step.labels[i], step.outputs[i], step.inputs);
  const Value mean = graph.type(values).shape.empty() ? values : ops::reduce_mean(graph, values);
  total = total ? ops::add(graph, total, mean) : mean;
  return values;
}

/// Per-example losses and metrics go into the states; returns the scalar that training minimizes.
Value add_losses(Graph& graph, const Model& model, const CompileConfig& config, const MetricStates& states,
                 const StepValues& step) {
  Value total;
  std::size_t state = 1;
  const std::size_t outputs = step.outputs.size();
  const std::int64_t batch_size = graph.type(step.outputs[0]).shape[0];
  for (std::size_t i = 0; i < outputs; ++i) {
    const GraphScope scope(graph, output_device(model, i), "loss");
    const Value values = add_loss(graph, config, i, step, total);
    if (outputs == 1) accumulate(graph, states.state(0), values, batch_size);
    for (const MetricPtr& metric : config.metrics) {
      const GraphScope named(graph, output_device(model, i), metric->name());
      accumulate(graph, states.state(state++), metric->call(graph, step.labels[i], step.outputs[i]), batch_size);
    }
  }
  if (outputs > 1) {
    const GraphScope scope(graph, output_device(model, 0), "loss");
    accumulate(graph, states.state(0), total, batch_size);
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
Value share_of(Graph& graph, Value loss, std::int64_t parts) {
  if (parts == 1) return loss;
  const GraphScope scope(graph, graph.node(loss).device, "loss");
  return ops::mul(graph, loss, graph.constant(1.0F / static_cast<float>(parts)));
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
  options.offload = {.layers = config.offload.layers, .ahead = config.offload.ahead};
  for (const Model::Call& call : model.calls()) {
    if (call.inputs.empty()) continue;
    const std::string& name = call.layer->name();
    const bool named = std::ranges::find(config.offload.layers, name) != config.offload.layers.end();
    const bool on_host = call.layer->device() == host;
    if (named && on_host) refuse_offload_from_host(model, fmt::format("layer '{}' is", name));
    const bool again = std::ranges::find(config.recompute, name) != config.recompute.end();
    if (config.offload.all && !on_host && !again) options.offload.layers.push_back(name);
  }
  if (config.offload.all && options.offload.layers.empty() && config.recompute.empty())
    refuse_offload_from_host(model, "all its layers are");
  return options;
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

StepGraph training_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                         std::span<const TensorType> element) {
  StepGraph step;
  Graph& graph = step.graph;
  const StepValues whole = bind_element(graph, model, element, true);
  const Value counter = graph.variable(config.optimizer->iterations());
  const std::vector<VariablePtr> variables = model.trainable_variables();
  std::vector<Value> values;
  for (const VariablePtr& variable : variables) values.push_back(graph.variable(variable));

  const LossScale* const scale = config.loss_scale.get();
  const std::int64_t parts = config.gradient_accumulation_steps;
  require_equal_parts(model, element, parts);
  require_layers(model, config.recompute, "recompute");
  const auto count = [&] { return static_cast<std::int32_t>(graph.nodes().size()); };
  std::vector<GradientSection> sections;
  std::vector<Value> sums(values.size());
  for (std::int64_t index = 0; index < parts; ++index) {
    GradientSection section{.first = count()};
    StepValues part = part_of(graph, whole, index, parts);
    part.outputs = model.call({graph, true, counter}, part.inputs);
    const Value loss = share_of(graph, add_losses(graph, model, config, metrics, part), parts);
    section.middle = count();
    sums = add_gradients(graph, scale ? scale->scaled(graph, loss) : loss, values, sums);
    section.last = count();
    sections.push_back(section);
  }
  if (scale) scale->apply_scaled(graph, *config.optimizer, sums, variables);
  if (!scale) config.optimizer->apply_gradients(graph, sums, variables);
  if (!config.recompute.empty()) graph = with_recomputed(std::move(graph), sections, config.recompute);
  return step;
}

StepGraph evaluation_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                           std::span<const TensorType> element) {
  StepGraph step;
  StepValues values = bind_element(step.graph, model, element, true);
  values.outputs = model.call({step.graph}, values.inputs);
  add_losses(step.graph, model, config, metrics, values);
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
