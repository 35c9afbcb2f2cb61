#include "core/train/step_losses.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/exchange_ops.h"
#include "core/graph/leaf_ops.h"
#include "core/nn/labels.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/indexing.h"
#include "core/ops/metric.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "core/ops/state.h"
#include "core/train/exchange.h"
#include "core/train/weighted_metric.h"

namespace gpubench {
namespace {

const DeviceId& output_device(const Model& model, std::size_t output) {
  return model.calls()[model.outputs()[output]].layer->device();
}

const Loss& loss_of(const CompileConfig& config, std::size_t output) {
  return *config.losses[config.losses.size() == 1 ? 0 : output];
}

/// The weights of the examples of output `i`; none: all 1.
Value weights_of(const StepValues& step, std::size_t i) {
  return step.weights.empty() ? Value{} : step.weights[step.weights.size() == 1 ? 0 : i];
}

/// The mask of output `i` for values of a loss or metric; none: they are not masked. As in Keras, one number for the
/// whole batch is not.
Value mask_of(const Graph& graph, const StepValues& step, std::size_t i, const std::string& name, Value values) {
  const Value mask = i < step.masks.size() ? step.masks[i] : Value{};
  const TensorType& type = graph.type(values);
  if (!mask || type.rank() == 0) return {};
  const Shape& steps = graph.type(mask).shape;
  if (steps.size() <= type.shape.size() && std::equal(steps.begin(), steps.end(), type.shape.begin())) return mask;
  throw Error(fmt::format("the mask {} of output {} does not fit the values {} of {}, which must have its steps",
                          to_string(graph.type(mask)), i + 1, to_string(type), name));
}

/// The share of the steps that are not masked, of all replicas.
Value kept_share(Graph& graph, const StepValues& step, Value mask) {
  const Value own = ops::reduce_mean(graph, ops::cast(graph, mask, Dtype::f32));
  if (!step.replica_share) return own;
  return all_reduce(graph, ops::mul(graph, own, ops::scalar(graph, *step.replica_share, Dtype::f32)));
}

/// The weights times 0 for masked steps and `factor` for the others; none: 1.
Value with_mask(Graph& graph, Value weights, Value mask, Value factor = {}) {
  Value kept = ops::cast(graph, mask, Dtype::f32);
  if (factor) kept = ops::mul(graph, kept, factor);
  if (!weights) return kept;
  Shape of_weights = graph.type(weights).shape, of_mask = graph.type(mask).shape;
  const std::size_t rank = std::max(of_weights.size(), of_mask.size());
  of_weights.resize(rank, 1);
  of_mask.resize(rank, 1);
  const Value wide = ops::cast(graph, ops::reshape(graph, weights, of_weights), Dtype::f32);
  return ops::mul(graph, wide, ops::reshape(graph, kept, of_mask));
}

/// What a metric adds to its state.
struct Measured {
  Value value;
  bool averaged = false;  ///< values, of which the state has the sum and the count
};

Value sums_of(Graph& graph, const Metric& metric, const StepValues& step, std::size_t i, Value values, Value weights) {
  const Value mask = metric.takes_masks() ? mask_of(graph, step, i, metric.name(), values) : Value{};
  if (mask) weights = with_mask(graph, weights, mask);
  return weights ? sums_of_weighted(graph, metric.name(), values, weights) : Value{};
}

Measured measure(Graph& graph, const Metric& metric, const StepValues& step, std::size_t i) {
  const auto* const weighs = dynamic_cast<const WeightedMetric*>(&metric);
  const Metric& of = weighs != nullptr ? weighs->of() : metric;
  const Value labels = step.labels[i], predictions = step.outputs[i];
  const Value weights = weighs != nullptr ? weights_of(step, i) : Value{};
  if (!of.averages()) {
    return {weights ? of.weighted(graph, labels, predictions, weights) : of.call(graph, labels, predictions)};
  }
  Value values = of.call(graph, labels, predictions);
  if (const Value sums = sums_of(graph, of, step, i, values, weights)) return {sums};
  if (weighs == nullptr) return {values, true};
  if (graph.type(values).shape.empty()) {
    values = ops::broadcast_to(graph, values, {graph.type(predictions).shape[0]});
  }
  return {ops::sum_and_count(graph, values)};
}

double weight_of_output(const CompileConfig& config, std::size_t i) {
  return config.loss_weights.empty() ? 1 : config.loss_weights[i];
}

Value times(Graph& graph, Value value, double factor) {
  return factor == 1 ? value : ops::mul(graph, value, ops::scalar(graph, factor, graph.type(value).dtype));
}

/// The number by which the mean of the values becomes the loss' reduction over the whole batch.
double factor_of(const Graph& graph, const Loss& loss, std::size_t i, const StepValues& step, Value values) {
  if (loss.reduction() == LossReduction::mean) return 1;
  if (loss.reduction() == LossReduction::none) {
    throw Error(
        fmt::format("{}: reduction 'none' leaves no number to minimize; compile takes 'sum_over_batch_size' or 'sum'",
                    loss.name()));
  }
  const auto here = static_cast<double>(graph.type(step.outputs[i]).shape[0]);
  const double batches = step.batch_rows == 0 ? 1 : static_cast<double>(step.batch_rows) / here;
  return batches * static_cast<double>(graph.type(values).elements());
}

/// The values of output `i` times the weights of their examples and the mask.
Value weighted_loss(Graph& graph, const Loss& loss, const StepValues& step, std::size_t i, Value values) {
  Value weights = weights_of(step, i);
  if (const Value mask = mask_of(graph, step, i, loss.name(), values)) {
    Value factor;
    if (loss.reduction() == LossReduction::mean) {  // the mean of all steps becomes that of those that are not masked
      constexpr double least = 1e-12;               // all may be masked: their loss is 0
      const Value share = ops::maximum(graph, kept_share(graph, step, mask), ops::scalar(graph, least, Dtype::f32));
      factor = ops::div(graph, ops::scalar(graph, 1, Dtype::f32), share);
    }
    weights = with_mask(graph, weights, mask, factor);
  }
  return weights ? weighted(graph, loss.name(), values, weights) : values;
}

/// The values of output `i`, whose mean joins the scalar that training minimizes.
Value add_loss(Graph& graph, const CompileConfig& config, std::size_t i, const StepValues& step, Value& total) {
  const Loss& loss = loss_of(config, i);
  Value values = loss.call(graph, step.labels[i], step.outputs[i], step.inputs);
  values = weighted_loss(graph, loss, step, i, values);
  values = times(graph, values, factor_of(graph, loss, i, step, values));
  Value mean = graph.type(values).shape.empty() ? values : ops::reduce_mean(graph, values);
  mean = times(graph, mean, weight_of_output(config, i));
  total = total ? ops::add(graph, total, mean) : mean;
  return values;
}

}  // namespace

std::vector<TensorType> with_rows(TensorTypes element, std::int64_t rows) {
  std::vector<TensorType> types(element.begin(), element.end());
  for (TensorType& type : types) {
    if (!type.shape.empty()) type.shape[0] = rows;
  }
  return types;
}

StepValues bind_element(Graph& graph, const Model& model, TensorTypes element, bool labelled) {
  const std::size_t inputs = model.inputs().size(), outputs = model.outputs().size();
  const std::size_t more = element.size() - std::min(element.size(), inputs + outputs);
  const bool complete = element.size() >= inputs + outputs && (more <= 1 || more == outputs);
  if (element.size() < inputs || (labelled && !complete)) {
    throw Error(
        fmt::format("model '{}': an element must be {} input{} and {} label{}, and may have weights of the examples "
                    "behind them, got a tuple of {}",
                    model.name(), inputs, inputs == 1 ? "" : "s", outputs, outputs == 1 ? "" : "s", element.size()));
  }
  StepValues bound;
  for (std::size_t i = 0; i < inputs; ++i) {
    const GraphScope scope(graph, model.calls()[model.inputs()[i]].layer->device(), "");
    bound.inputs.push_back(graph.input(element[i], "x"));
  }
  for (std::size_t i = 0; labelled && i < outputs; ++i) {
    const GraphScope scope(graph, output_device(model, i), "");
    bound.labels.push_back(graph.input(element[inputs + i], "y"));
  }
  for (std::size_t i = 0; labelled && i < more; ++i) {
    const GraphScope scope(graph, output_device(model, i), "");
    bound.weights.push_back(graph.input(element[inputs + outputs + i], "sample_weight"));
  }
  return bound;
}

void weigh_classes(Graph& graph, const Model& model, const std::vector<float>& class_weights, StepValues& step) {
  if (class_weights.empty()) return;
  if (step.labels.size() != 1) {
    throw Error(
        fmt::format("class_weight: model '{}' has {} outputs, and only one can have classes with weights; give "
                    "sample weights",
                    model.name(), step.labels.size()));
  }
  const GraphScope scope(graph, output_device(model, 0), loss_owner());
  const std::int64_t columns = model.output_types()[0].shape.empty() ? 1 : model.output_types()[0].shape.back();
  const std::int64_t classes = columns == 1 ? 2 : columns;
  if (std::ssize(class_weights) > classes) {
    throw Error(fmt::format("class_weight: model '{}' has the classes 0 to {}, got a weight for class {}", model.name(),
                            classes - 1, class_weights.size() - 1));
  }
  HostTensor table(TensorType{{classes}, Dtype::f32});
  std::ranges::fill(table.values<float>(), 1.0F);
  std::ranges::copy(class_weights, table.values<float>().begin());
  const TensorType labels = graph.type(step.labels[0]);
  const bool one_hot = columns > 1 && labels.rank() > 1 && labels.shape.back() == columns;
  Value indices = step.labels[0];
  if (one_hot) {
    indices = graph.apply(std::make_shared<const ArgMax>(-1), {indices});
  } else {
    Shape shape = labels.shape;
    if (labels.rank() > 1 && shape.back() == 1) shape.pop_back();
    indices = ops::reshape(graph, ops::cast(graph, indices, Dtype::i64), shape);
  }
  const Value weights = ops::gather(graph, graph.constant(table), indices);
  if (step.weights.empty()) {
    step.weights.push_back(weights);
  } else {
    const Value given = ops::cast(graph, step.weights[0], Dtype::f32);
    step.weights[0] = ops::mul(graph, ops::reshape(graph, given, graph.type(weights).shape), weights);
  }
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

void Figures::add_to_state(Graph& graph, std::size_t index, Value added) {
  if (shared_) {
    sums_[index].push_back(added);
  } else {
    ops::assign_add(graph, graph.variable(states_.state(index)), added);
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

Value with_penalty(Graph& graph, Value loss, Value penalty) {
  if (!penalty) return loss;
  const GraphScope scope(graph, graph.node(loss).device, loss_owner());
  return ops::add(graph, loss, ops::cast(graph, penalty, graph.type(loss).dtype));
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
  return with_penalty(graph, total, step.penalty);
}

Value masked_loss(Graph& graph, const Loss& loss, Value values, Value mask, Value weights) {
  StepValues step;
  step.masks = {mask};
  step.weights = {weights};
  return weighted_loss(graph, loss, step, 0, values);
}

Value masked_sums(Graph& graph, const Metric& metric, Value values, Value mask, Value weights) {
  StepValues step;
  step.masks = {mask};
  return sums_of(graph, metric, step, 0, values, weights);
}

Value add_losses(Graph& graph, const Model& model, const CompileConfig& config, Figures& figures,
                 const StepValues& step) {
  Value total;
  const std::size_t outputs = step.outputs.size();
  std::size_t state = outputs > 1 ? 1 + outputs : 1;  // as in figures_of()
  const std::int64_t batch_size = graph.type(step.outputs[0]).shape[0];
  const Value beside = step.added ? with_penalty(graph, step.added, step.penalty) : step.penalty;
  for (std::size_t i = 0; i < outputs; ++i) {
    const GraphScope scope(graph, output_device(model, i), loss_owner());
    const Value values = add_loss(graph, config, i, step, total);
    // As in Keras, a figure of one of several outputs leaves out its weight.
    const Value shown =
        outputs == 1 ? with_penalty(graph, times(graph, values, weight_of_output(config, 0)), beside) : values;
    figures.add(graph, outputs > 1 ? 1 + i : 0, shown, batch_size);
    for (const MetricPtr& metric : metrics_of(config, i)) {
      const GraphScope named(graph, output_device(model, i), make_owner(metric->name()));
      const Measured measured = measure(graph, *metric, step, i);
      if (measured.averaged) figures.add(graph, state, measured.value, batch_size);
      if (!measured.averaged) figures.add_to_state(graph, state, measured.value);
      ++state;
    }
  }
  if (outputs > 1) {
    const GraphScope scope(graph, output_device(model, 0), loss_owner());
    figures.add(graph, 0, with_penalty(graph, total, beside), batch_size);
  }
  return with_penalty(graph, total, step.added);
}

}  // namespace gpubench
