#include "core/train/step_losses.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/exchange_ops.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/metric.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "core/ops/state.h"
#include "core/train/exchange.h"

namespace gpubench {
namespace {

const DeviceId& output_device(const Model& model, std::size_t output) {
  return model.calls()[model.outputs()[output]].layer->device();
}

const Loss& loss_of(const CompileConfig& config, std::size_t output) {
  return *config.losses[config.losses.size() == 1 ? 0 : output];
}

/// The values of output `i`, whose mean joins the scalar that training minimizes.
Value add_loss(Graph& graph, const CompileConfig& config, std::size_t i, const StepValues& step, Value& total) {
  const Value values = loss_of(config, i).call(graph, step.labels[i], step.outputs[i], step.inputs);
  const Value mean = graph.type(values).shape.empty() ? values : ops::reduce_mean(graph, values);
  total = total ? ops::add(graph, total, mean) : mean;
  return values;
}

}  // namespace

std::vector<TensorType> with_rows(std::span<const TensorType> element, std::int64_t rows) {
  std::vector<TensorType> types(element.begin(), element.end());
  for (TensorType& type : types) {
    if (!type.shape.empty()) type.shape[0] = rows;
  }
  return types;
}

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

// Sums are float32 for every type of computation.
void Figures::add(Graph& graph, std::size_t index, Value values, std::int64_t batch_size) {
  Value wide = ops::cast(graph, values, Dtype::f32);
  if (graph.type(wide).shape.empty()) wide = ops::broadcast_to(graph, wide, {batch_size});
  if (shared_) {
    sums_[index].push_back(ops::sum_and_count(graph, wide));
  } else {
    ops::accumulate_mean(graph, graph.variable(states_.state(index)), wide);
  }
}

void Figures::exchange(Graph& graph) {
  for (std::size_t i = 0; shared_ && i < sums_.size(); ++i) {
    const GraphScope scope(graph, update_of(*states_.state(i)));
    if (sums_[i].empty()) sums_[i].push_back(graph.constant(HostTensor::zeros(states_.state(i)->type)));
    const Value sum =
        sums_[i].size() == 1 ? sums_[i][0] : graph.apply(std::make_shared<const AddN>(), std::span(sums_[i]));
    sums_[i] = {all_reduce_in_bucket(graph, sum)};
  }
}

void Figures::finish(Graph& graph) {
  for (std::size_t i = 0; shared_ && i < sums_.size(); ++i) {
    const GraphScope scope(graph, update_of(*states_.state(i)));
    ops::assign_add(graph, graph.variable(states_.state(i)), sums_[i][0]);
  }
}

const OwnerPtr& loss_owner() {
  static const OwnerPtr owner = make_owner("loss");
  return owner;
}

Value total_loss(Graph& graph, const Model& model, const CompileConfig& config, const StepValues& step) {
  Value total;
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const GraphScope scope(graph, output_device(model, i), loss_owner());
    add_loss(graph, config, i, step, total);
  }
  return total;
}

Value add_losses(Graph& graph, const Model& model, const CompileConfig& config, Figures& figures,
                 const StepValues& step) {
  Value total;
  const std::size_t outputs = step.outputs.size();
  std::size_t state = outputs > 1 ? 1 + outputs : 1;  // as in metric_names()
  const std::int64_t batch_size = graph.type(step.outputs[0]).shape[0];
  for (std::size_t i = 0; i < outputs; ++i) {
    const GraphScope scope(graph, output_device(model, i), loss_owner());
    const Value values = add_loss(graph, config, i, step, total);
    figures.add(graph, outputs > 1 ? 1 + i : 0, values, batch_size);
    for (const MetricPtr& metric : metrics_of(config, i)) {
      const GraphScope named(graph, output_device(model, i), make_owner(metric->name()));
      figures.add(graph, state++, metric->call(graph, step.labels[i], step.outputs[i]), batch_size);
    }
  }
  if (outputs > 1) {
    const GraphScope scope(graph, output_device(model, 0), loss_owner());
    figures.add(graph, 0, total, batch_size);
  }
  return total;
}

}  // namespace gpubench
