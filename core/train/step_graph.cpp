#include "core/train/step_graph.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/binary.h"
#include "core/ops/cast.h"
#include "core/ops/reduce.h"
#include "core/ops/state.h"

namespace gpubench {
namespace {

struct Bound {
  std::vector<Value> inputs, labels;
};

const DeviceId& output_device(const Model& model, std::size_t output) {
  return model.calls()[model.outputs()[output]].layer->device();
}

/// The graph's inputs, each on the device that reads it.
Bound bind_element(Graph& graph, const Model& model, std::span<const TensorType> element, bool labelled) {
  const std::size_t inputs = model.inputs().size(), outputs = model.outputs().size();
  if (element.size() < inputs || (labelled && element.size() != inputs + outputs)) {
    throw Error(fmt::format("model '{}': an element must be {} input{} and {} label{}, got a tuple of {}", model.name(),
                            inputs, inputs == 1 ? "" : "s", outputs, outputs == 1 ? "" : "s", element.size()));
  }
  Bound bound;
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

const Loss& loss_of(const CompileConfig& config, std::size_t output) {
  return *config.losses[config.losses.size() == 1 ? 0 : output];
}

/// Sums are float32, whatever type the model computes in.
void accumulate(Graph& graph, const VariablePtr& state, Value values) {
  ops::accumulate_mean(graph, graph.variable(state), ops::cast(graph, values, Dtype::f32));
}

/// Per-example losses and metrics go into the states; returns the scalar that training minimizes.
Value add_losses(Graph& graph, const Model& model, const CompileConfig& config, const MetricStates& states,
                 const Bound& bound, std::span<const Value> outputs) {
  Value total;
  std::size_t state = 1;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const GraphScope scope(graph, output_device(model, i), "loss");
    const Value values = loss_of(config, i).call_with_inputs(graph, bound.labels[i], outputs[i], bound.inputs);
    const Value mean = graph.type(values).shape.empty() ? values : ops::reduce_mean(graph, values);
    total = total ? ops::add(graph, total, mean) : mean;
    if (outputs.size() == 1) accumulate(graph, states.state(0), values);
    for (const MetricPtr& metric : config.metrics) {
      const GraphScope named(graph, output_device(model, i), metric->name());
      const Value measured = metric->call(graph, bound.labels[i], outputs[i]);
      accumulate(graph, states.state(state++), measured);
    }
  }
  if (outputs.size() > 1) {
    const GraphScope scope(graph, output_device(model, 0), "loss");
    accumulate(graph, states.state(0), total);
  }
  return total;
}

}  // namespace

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
  const Bound bound = bind_element(graph, model, element, true);
  const Value counter = graph.variable(config.optimizer->iterations());
  const std::vector<Value> outputs = model.call({graph, true, counter}, bound.inputs);
  const Value loss = add_losses(graph, model, config, metrics, bound, outputs);

  const std::vector<VariablePtr> variables = model.trainable_variables();
  std::vector<Value> values;
  for (const VariablePtr& variable : variables) values.push_back(graph.variable(variable));
  config.optimizer->apply_gradients(graph, gradients(graph, loss, values), variables);
  return step;
}

StepGraph evaluation_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                           std::span<const TensorType> element) {
  StepGraph step;
  const Bound bound = bind_element(step.graph, model, element, true);
  const std::vector<Value> outputs = model.call({step.graph}, bound.inputs);
  add_losses(step.graph, model, config, metrics, bound, outputs);
  return step;
}

StepGraph prediction_graph(const Model& model, std::span<const TensorType> element) {
  StepGraph step;
  const Bound bound = bind_element(step.graph, model, element, false);
  step.outputs = model.call({step.graph}, bound.inputs);
  return step;
}

}  // namespace gpubench
