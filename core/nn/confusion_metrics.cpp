// Metrics that count true and false positives and negatives: themselves, precision, recall and F1. Counts are exact in
// float32 up to 16 million.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <memory>

#include "core/base/error.h"
#include "core/base/known_names.h"
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

Value above(Graph& graph, Value predictions, double threshold) {
  return in_float(graph, ops::greater(graph, predictions, ops::scalar(graph, threshold, Dtype::f32)));
}

/// Less than all predictions: the threshold of those that are not among the largest of a row.
constexpr float below_all = -1e10F;

/// The option's thresholds; without it the default, or with `top_k` one that all of a row's largest are above.
std::vector<float> given_thresholds(const Config& config, bool has_top_k) {
  const Numbers* const given = config.given_numbers("thresholds");
  if (given == nullptr) return {has_top_k ? below_all : 0.5F};
  expect_within(config, "thresholds", *given, 0, 1);
  return {given->begin(), given->end()};
}

/// Predictions of which all but the k largest of each row are `below_all`; of equal ones the first are the larger.
Value largest_of_rows(Graph& graph, const std::string& owner, Value predictions, std::int64_t k) {
  const TensorType type = graph.type(predictions);
  if (type.rank() < 2 || type.shape.back() < k) {
    throw Error(fmt::format("{}: top_k {} needs predictions [batch, classes] of at least as many classes, got {}",
                            owner, k, to_string(type)));
  }
  const Value low = ops::scalar(graph, static_cast<double>(below_all), Dtype::f32);
  Value chosen{}, rest = predictions;
  for (std::int64_t i = 0; i < k; ++i) {
    const Value index = graph.apply(std::make_shared<const ArgMax>(-1), {rest});
    const Value largest = ops::one_hot(graph, index, type.shape.back(), Dtype::boolean);
    chosen = chosen ? ops::logical_or(graph, chosen, largest) : largest;
    rest = ops::select(graph, largest, low, rest);
  }
  return ops::select(graph, chosen, predictions, low);
}

/// The part of `x` [..., classes] that is class `label`; all of it below 0.
Value class_of(Graph& graph, const std::string& owner, Value x, std::int64_t label) {
  if (label < 0) return x;
  const TensorType type = graph.type(x);
  if (type.rank() < 2 || label >= type.shape.back()) {
    throw Error(
        fmt::format("{}: class_id {} is not among the classes of predictions {}", owner, label, to_string(type)));
  }
  SliceRange range{.begin = Shape(type.shape.size(), 0), .end = type.shape, .stride = {}};
  range.begin.back() = label;
  range.end.back() = label + 1;
  return ops::slice(graph, x, range);
}

/// How many predictions are above a threshold and of positive labels, above it, of positive labels, and in all.
struct Counts {
  double both, positive, actual, all;
};

/// State: by threshold the counts of `both` and of `positive`, then the two that thresholds do not change.
MetricPtr make_counting(const Config& config, double (*figure)(const Counts&)) {
  const std::int64_t top_k = optional_from(config, "top_k", 1), label = optional_from(config, "class_id", 0);
  const std::vector<float> thresholds = given_thresholds(config, top_k > 0);
  const std::size_t count = thresholds.size();
  const auto added = [=, owner = config.owner()](Graph& graph, Value labels, Value predictions, Value weights) {
    Value actual = positive_labels(graph, owner, labels, predictions);
    const Value ranked = top_k > 0 ? largest_of_rows(graph, owner, predictions, top_k) : predictions;
    const Value counted = class_of(graph, owner, ranked, label);
    actual = class_of(graph, owner, actual, label);
    const TensorType type = graph.type(counted);
    const auto in_column = [&](Value x) { return ops::reshape(graph, x, {-1, 1}); };
    Value weight{}, all = levels_of(graph, std::array{static_cast<float>(type.elements())});
    if (weights) {
      weight = fitting_weights(graph, owner, weights, type);
      weight = in_column(ops::broadcast_to(graph, weight, type.shape));
      all = ops::reduce_sum(graph, weight, {0});
    }
    const Value positive = in_float(graph, ops::greater(graph, in_column(counted), levels_of(graph, thresholds)));
    const Value sums = confusion(graph, positive, in_column(actual), 1, weight);
    return ops::concat(graph, std::array{sums, all}, 0);
  };
  const auto results = [figure, count](std::span<const float> state) {
    const auto at = [&](std::size_t i) { return static_cast<double>(state[i]); };
    std::vector<double> figures;
    for (std::size_t i = 0; i < count; ++i)
      figures.push_back(figure({at(i), at(count + i), at(2 * count), at(2 * count + 1)}));
    return figures;
  };
  return make_state_metric({.name = config.owner(),
                            .size = [count](const TensorType&) { return static_cast<std::int64_t>(2 * count + 2); },
                            .added = added,
                            .results = results});
}

/// The largest of a row, unless it is about 0.
Value largest_of_row(Graph& graph, Value predictions) {
  constexpr double least = 1e-9;
  const Value largest = ops::equal(graph, predictions, ops::reduce_max(graph, predictions, {-1}, true));
  const Value magnitude = ops::abs(graph, predictions);
  const Value counts = ops::greater(graph, magnitude, ops::scalar(graph, least, Dtype::f32));
  return in_float(graph, ops::logical_and(graph, largest, counts));
}

double f1_of(double both, double positive, double actual) {
  return ratio(2 * both, positive + actual);
}

constexpr std::array<std::string_view, 4> averages = {"macro", "micro", "weighted", "none"};

/// By class: true positives, positive predictions, positive labels.
std::vector<double> f1_score(std::string_view average, std::span<const float> state) {
  const std::size_t classes = state.size() / 3;
  double both = 0, positive = 0, actual = 0, sum = 0, weighted = 0;
  std::vector<double> by_class;
  for (std::size_t i = 0; i < classes; ++i) {
    const std::array<double, 3> own{static_cast<double>(state[i]), static_cast<double>(state[classes + i]),
                                    static_cast<double>(state[2 * classes + i])};
    both += own[0];
    positive += own[1];
    actual += own[2];
    const double f1 = f1_of(own[0], own[1], own[2]);
    by_class.push_back(f1);
    sum += f1;
    weighted += f1 * own[2];
  }
  if (average == "none") return by_class;
  if (average == "micro") return {f1_of(both, positive, actual)};
  return {average == "macro" ? sum / static_cast<double>(classes) : ratio(weighted, actual)};
}

}  // namespace

MetricPtr make_precision(const Config& config) {
  return make_counting(config, [](const Counts& of) { return ratio(of.both, of.positive); });
}

MetricPtr make_recall(const Config& config) {
  return make_counting(config, [](const Counts& of) { return ratio(of.both, of.actual); });
}

MetricPtr make_true_positives(const Config& config) {
  return make_counting(config, [](const Counts& of) { return of.both; });
}

MetricPtr make_false_positives(const Config& config) {
  return make_counting(config, [](const Counts& of) { return of.positive - of.both; });
}

MetricPtr make_false_negatives(const Config& config) {
  return make_counting(config, [](const Counts& of) { return of.actual - of.both; });
}

MetricPtr make_true_negatives(const Config& config) {
  return make_counting(config, [](const Counts& of) { return of.all - of.positive - of.actual + of.both; });
}

MetricPtr make_f1_score(const Config& config) {
  const std::string& average = config.text("average");
  if (std::ranges::find(averages, average) == averages.end()) {
    throw_unknown_name("f1_score: unknown average", average, averages);
  }
  const double threshold = config.number_within("threshold", -1, 1);
  const auto added = [owner = config.owner(), threshold](Graph& graph, Value labels, Value predictions, Value weights) {
    expect_classes(graph, owner, predictions);
    const Value positive = threshold < 0 ? largest_of_row(graph, predictions) : above(graph, predictions, threshold);
    if (weights) weights = fitting_weights(graph, owner, weights, graph.type(predictions));
    return confusion(graph, positive, positive_labels(graph, owner, labels, predictions), 1, weights);
  };
  return make_state_metric({.name = config.owner(),
                            .size = [](const TensorType& predictions) { return 3 * columns_of(predictions); },
                            .added = added,
                            .results = [average](std::span<const float> state) { return f1_score(average, state); }});
}

}  // namespace gpubench
