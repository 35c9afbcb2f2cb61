// Intersection over union of the places that are of a class and those that are predicted to be: of classes by index or
// one-hot, and of two classes by a threshold. The state is by class: both, predicted, labelled.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>

#include "core/base/error.h"
#include "core/nn/counting.h"
#include "core/nn/labels.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/indexing.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

constexpr double epsilon_of_iou = 1e-7;  // Keras'

/// The mean over the classes that labels or predictions have.
std::vector<double> mean_iou(const Shape& targets, std::span<const float> state) {
  constexpr double least = 1e-9;
  const std::size_t classes = state.size() / 3;
  double sum = 0, valid = 0;
  for (const std::int64_t target : targets) {
    const auto i = static_cast<std::size_t>(target);
    const double both = static_cast<double>(state[i]);
    const double either = static_cast<double>(state[classes + i]) + static_cast<double>(state[2 * classes + i]) - both;
    sum += both / (either + epsilon_of_iou);
    valid += either > least ? 1 : 0;
  }
  return {sum / (valid + epsilon_of_iou)};
}

/// Throws Error for a list without classes, and for a class that there is none of.
void expect_targets(const Config& config, const Shape& targets, std::int64_t classes) {
  if (targets.empty()) throw Error(fmt::format("{}: target_class_ids must name a class", config.owner()));
  for (const std::int64_t target : targets) {
    if (target >= 0 && target < classes) continue;
    throw Error(
        fmt::format("{}: target_class_ids has {}; the classes are 0 to {}", config.owner(), target, classes - 1));
  }
}

/// What the places, class indices of one shape, have of each class. Those do not count of which the label or prediction
/// is none of the classes, or the label is the one that is ignored.
Value overlap(Graph& graph, const std::string& owner, std::int64_t classes, std::int64_t ignored, Value labels,
              Value predictions, Value weights) {
  const TensorType type = graph.type(predictions);
  if (graph.type(labels).shape != type.shape) {
    throw Error(fmt::format("{}: labels of {} places are expected, as the predictions have, got {}", owner,
                            to_string(type.shape), to_string(graph.type(labels).shape)));
  }
  const auto number = [&](std::int64_t value) { return ops::scalar(graph, static_cast<double>(value), Dtype::i64); };
  const auto indices = [&](Value x) { return ops::cast(graph, x, Dtype::i64); };
  const auto is_class = [&](Value x) {
    return ops::logical_and(graph, ops::greater_equal(graph, x, number(0)), ops::less(graph, x, number(classes)));
  };
  const Value truth = indices(labels), guess = indices(predictions);
  Value counts = ops::logical_and(graph, is_class(truth), is_class(guess));
  if (ignored != no_class) counts = ops::logical_and(graph, counts, ops::not_equal(graph, truth, number(ignored)));
  const auto one_hot = [&](Value x) {
    const Value counted = ops::select(graph, counts, x, number(0));
    return ops::one_hot(graph, ops::reshape(graph, counted, {-1}), classes);
  };
  Value weight = in_float(graph, counts);
  if (weights) weight = ops::mul(graph, weight, fitting_weights(graph, owner, weights, graph.type(weight)));
  return confusion(graph, one_hot(guess), one_hot(truth), 1, ops::reshape(graph, weight, {-1, 1}));
}

/// Class indices of one-hot labels or of predictions by class; those that are indices as they are.
Value indices_of(Graph& graph, const std::string& owner, Value x, bool sparse, std::int64_t axis,
                 std::int64_t classes) {
  if (sparse) return x;
  const TensorType type = graph.type(x);
  const std::int64_t along = axis < 0 ? axis + type.rank() : axis;
  if (type.rank() < 2 || along < 1 || along >= type.rank() || type.shape[static_cast<std::size_t>(along)] != classes) {
    throw Error(
        fmt::format("{}: {} classes along axis {} are expected, got {}; class indices go with sparse_y_true "
                    "and sparse_y_pred",
                    owner, classes, axis, to_string(type)));
  }
  return graph.apply(std::make_shared<const ArgMax>(along), {ops::cast(graph, x, Dtype::f32)});
}

/// Labels [batch, ..., 1] of predictions [batch, ...], and the other way round, without the last dimension.
Value without_last(Graph& graph, Value x, const Shape& places) {
  Shape longer = places;
  longer.push_back(1);
  return graph.type(x).shape == longer ? ops::reshape(graph, x, places) : x;
}

bool flag_or(const Config& config, std::string_view name, bool otherwise) {
  const bool has = std::ranges::any_of(config.entries(), [&](const auto& entry) { return entry.first == name; });
  return has ? config.flag(name) : otherwise;
}

MetricPtr iou_of(const Config& config, Shape targets, std::int64_t classes, StateMetric::Added added) {
  return make_state_metric(
      {.name = config.owner(),
       .size = [classes](const TensorType&) { return 3 * classes; },
       .added = std::move(added),
       .results = [targets = std::move(targets)](std::span<const float> state) { return mean_iou(targets, state); }});
}

}  // namespace

MetricPtr make_binary_iou(const Config& config) {
  const Shape& targets = config.shape("target_class_ids");
  expect_targets(config, targets, 2);
  const auto added = [owner = config.owner(), threshold = config.number("threshold")](
                         Graph& graph, Value labels, Value predictions, Value weights) {
    const Value numbers = ops::cast(graph, predictions, Dtype::f32);
    const Value positive = ops::greater_equal(graph, numbers, ops::scalar(graph, threshold, Dtype::f32));
    return overlap(graph, owner, 2, no_class, labels, positive, weights);
  };
  return iou_of(config, targets, 2, added);
}

MetricPtr make_iou(const Config& config) {
  const std::int64_t classes = config.integer_from("num_classes", 1), ignored = config.integer("ignore_class");
  const bool of_all = config.owner() == "mean_io_u" || config.owner() == "one_hot_mean_io_u";
  Shape targets = of_all ? Shape{} : config.shape("target_class_ids");
  for (std::int64_t i = 0; of_all && i < classes; ++i) targets.push_back(i);
  expect_targets(config, targets, classes);
  const bool sparse_labels = flag_or(config, "sparse_y_true", false), sparse = config.flag("sparse_y_pred");
  const auto added = [=, owner = config.owner(), axis = config.integer("axis")](Graph& graph, Value labels,
                                                                                Value predictions, Value weights) {
    predictions = indices_of(graph, owner, predictions, sparse, axis, classes);
    labels = indices_of(graph, owner, labels, sparse_labels, axis, classes);
    predictions = without_last(graph, predictions, graph.type(labels).shape);
    labels = without_last(graph, labels, graph.type(predictions).shape);
    return overlap(graph, owner, classes, ignored, labels, predictions, weights);
  };
  return iou_of(config, targets, classes, added);
}

}  // namespace gpubench
