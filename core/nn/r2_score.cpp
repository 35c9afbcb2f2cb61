// The share of the labels' variance that predictions explain.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/counting.h"
#include "core/nn/labels.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

constexpr std::array<std::string_view, 3> aggregations = {"uniform_average", "variance_weighted_average", "none"};

/// By column: squares, labels, squared errors and weights, then the number of labels.
std::vector<double> r2_scores(std::string_view aggregation, std::int64_t regressors, std::span<const float> state) {
  const std::size_t columns = (state.size() - 1) / 4;
  const auto at = [&](std::size_t group, std::size_t i) { return static_cast<double>(state[group * columns + i]); };
  std::vector<double> scores;
  double sum = 0, weighted = 0, variances = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    const double variance = at(0, i) - at(1, i) * at(1, i) / at(3, i);
    const double score = 1 - at(2, i) / variance;
    scores.push_back(std::isinf(score) ? 0 : score);
    sum += scores.back();
    weighted += variance * scores.back();
    variances += variance;
  }
  if (aggregation == "uniform_average") scores = {sum / static_cast<double>(columns)};
  if (aggregation == "variance_weighted_average") scores = {weighted / variances};
  const double labels = static_cast<double>(state.back()), rest = labels - static_cast<double>(regressors) - 1;
  if (regressors == 0 || rest <= 0) return scores;
  for (double& score : scores) score = 1 - (1 - score) * (labels - 1) / rest;
  return scores;
}

}  // namespace

MetricPtr make_r2_score(const Config& config) {
  const std::string& aggregation = config.text("class_aggregation");
  if (std::ranges::find(aggregations, aggregation) == aggregations.end()) {
    throw_unknown_name("r2_score: unknown class_aggregation", aggregation, aggregations);
  }
  const auto added = [owner = config.owner()](Graph& graph, Value labels, Value predictions, Value weights) {
    const TensorType type = graph.type(predictions);
    if (type.rank() != 2) {
      throw Error(fmt::format("{}: predictions must be [batch, numbers], got {}", owner, to_string(type)));
    }
    const Value truth = matching_labels(graph, owner, labels, predictions);
    Value weight = graph.constant(1.0F);
    if (weights) weight = fitting_weights(graph, owner, weights, type);
    const Value all = ops::broadcast_to(graph, weight, type.shape);
    const Value errors = ops::square(graph, ops::sub(graph, truth, predictions));
    std::vector<Value> sums;
    for (const Value summed : {ops::square(graph, truth), truth, errors})
      sums.push_back(ops::reduce_sum(graph, ops::mul(graph, summed, all), {0}));
    sums.push_back(ops::reduce_sum(graph, all, {0}));
    sums.push_back(levels_of(graph, std::array{static_cast<float>(type.elements())}));
    return ops::concat(graph, sums, 0);
  };
  const auto size = [](const TensorType& predictions) { return 4 * columns_of(predictions) + 1; };
  const auto results = [aggregation, regressors = config.integer_from("num_regressors", 0)](
                           std::span<const float> state) { return r2_scores(aggregation, regressors, state); };
  return make_state_metric({.name = config.owner(), .size = size, .added = added, .results = results});
}

}  // namespace gpubench
