// Metrics that count true and false positives: precision, recall, F1 and the area under a curve. Counts are exact in
// float32 up to 16 million.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/labels.h"
#include "core/nn/metric.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

/// Keras' divide_no_nan.
double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

Value in_float(Graph& graph, Value condition) {
  return ops::cast(graph, condition, Dtype::f32);
}

/// 1 where the label is not 0, in the predictions' shape.
Value positive_labels(Graph& graph, const std::string& owner, Value labels, Value predictions) {
  const Value numbers = matching_labels(graph, owner, labels, predictions);
  return in_float(graph, ops::not_equal(graph, numbers, ops::scalar(graph, 0, Dtype::f32)));
}

Value above(Graph& graph, Value predictions, double threshold) {
  return in_float(graph, ops::greater(graph, predictions, ops::scalar(graph, threshold, Dtype::f32)));
}

/// Sums over all axes but the last `kept`: of both, of positive predictions, of positive labels; one behind the other.
Value confusion(Graph& graph, Value positive, Value actual, int kept) {
  std::vector<std::int64_t> axes;
  const int rank = graph.type(positive).rank();
  for (int axis = 0; axis < rank - kept; ++axis) axes.push_back(axis);
  std::vector<Value> sums;
  for (const Value counted : {ops::mul(graph, positive, actual), positive, actual}) {
    sums.push_back(ops::reshape(graph, ops::reduce_sum(graph, counted, axes), {-1}));
  }
  return ops::concat(graph, sums, 0);
}

/// State: true positives, positive predictions, positive labels. `whole`: the index of what their share is of.
MetricPtr make_share_of_positives(const Config& config, std::size_t whole) {
  const double threshold = config.number_within("thresholds", 0, 1);
  const std::int64_t label = config.integer_from("class_id", -1);
  const auto added = [owner = config.owner(), threshold, label](Graph& graph, Value labels, Value predictions) {
    Value actual = positive_labels(graph, owner, labels, predictions);
    Value positive = above(graph, predictions, threshold);
    if (label >= 0) {
      const Shape& shape = graph.type(predictions).shape;
      if (shape.size() < 2 || label >= shape.back()) {
        throw Error(fmt::format("{}: class_id {} is not among the classes of predictions {}", owner, label,
                                to_string(graph.type(predictions))));
      }
      SliceRange range{.begin = Shape(shape.size(), 0), .end = shape, .stride = {}};
      range.begin.back() = label;
      range.end.back() = label + 1;
      actual = ops::slice(graph, actual, range);
      positive = ops::slice(graph, positive, range);
    }
    return confusion(graph, positive, actual, 0);
  };
  return make_state_metric({.name = config.owner(),
                            .size = [](const TensorType&) { return 3; },
                            .added = added,
                            .result =
                                [whole](std::span<const float> state) {
                                  return ratio(static_cast<double>(state[0]), static_cast<double>(state[whole]));
                                }});
}

std::int64_t columns_of(const TensorType& predictions) {
  return predictions.shape.empty() ? 1 : predictions.shape.back();
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

constexpr std::array averages = {std::string_view("macro"), std::string_view("micro"), std::string_view("weighted")};

/// By class: true positives, positive predictions, positive labels.
double f1_score(std::string_view average, std::span<const float> state) {
  const std::size_t classes = state.size() / 3;
  double both = 0, positive = 0, actual = 0, sum = 0, weighted = 0;
  for (std::size_t i = 0; i < classes; ++i) {
    const std::array<double, 3> own{static_cast<double>(state[i]), static_cast<double>(state[classes + i]),
                                    static_cast<double>(state[2 * classes + i])};
    both += own[0];
    positive += own[1];
    actual += own[2];
    const double f1 = f1_of(own[0], own[1], own[2]);
    sum += f1;
    weighted += f1 * own[2];
  }
  if (average == "micro") return f1_of(both, positive, actual);
  return average == "macro" ? sum / static_cast<double>(classes) : ratio(weighted, actual);
}

/// Numbers of true positives and of positive predictions above each threshold.
struct Curve {
  std::vector<double> both, positive;
  double actual() const { return both[0]; }  // all are above the first threshold
  double negatives() const { return positive[0] - both[0]; }
};

double roc_area(const Curve& curve) {
  double area = 0;
  for (std::size_t i = 0; i + 1 < curve.both.size(); ++i) {
    const auto false_share = [&](std::size_t at) {
      return ratio(curve.positive[at] - curve.both[at], curve.negatives());
    };
    const double height = ratio(curve.both[i], curve.actual()) + ratio(curve.both[i + 1], curve.actual());
    area += (false_share(i) - false_share(i + 1)) * height / 2;
  }
  return area;
}

/// Precision between two thresholds is interpolated as Davis and Goadrich do (2006), and Keras.
double precision_recall_area(const Curve& curve) {
  double area = 0;
  for (std::size_t i = 0; i + 1 < curve.both.size(); ++i) {
    const double dtp = curve.both[i] - curve.both[i + 1], before = curve.positive[i], after = curve.positive[i + 1];
    const double slope = ratio(dtp, std::max(before - after, 0.0));
    const double intercept = curve.both[i + 1] - slope * after;
    const double log_ratio = before > 0 && after > 0 ? std::log(before / after) : 0;
    area += ratio(slope * (dtp + intercept * log_ratio), curve.actual());
  }
  return area;
}

/// n from just below 0 to just above 1.
std::vector<float> thresholds_of(std::int64_t n) {
  constexpr double margin = 1e-7;
  std::vector<float> thresholds;
  for (std::int64_t i = 0; i < n; ++i) {
    const double inner = static_cast<double>(i) / static_cast<double>(n - 1);
    thresholds.push_back(static_cast<float>(i == 0 ? -margin : i + 1 == n ? 1 + margin : inner));
  }
  return thresholds;
}

}  // namespace

MetricPtr make_precision(const Config& config) {
  return make_share_of_positives(config, 1);
}

MetricPtr make_recall(const Config& config) {
  return make_share_of_positives(config, 2);
}

MetricPtr make_f1_score(const Config& config) {
  const std::string& average = config.text("average");
  if (std::ranges::find(averages, average) == averages.end()) {
    throw_unknown_name("f1_score: unknown average", average, averages);
  }
  const double threshold = config.number_within("threshold", -1, 1);
  const auto added = [owner = config.owner(), threshold](Graph& graph, Value labels, Value predictions) {
    expect_classes(graph, owner, predictions);
    const Value positive = threshold < 0 ? largest_of_row(graph, predictions) : above(graph, predictions, threshold);
    return confusion(graph, positive, positive_labels(graph, owner, labels, predictions), 1);
  };
  return make_state_metric({.name = config.owner(),
                            .size = [](const TensorType& predictions) { return 3 * columns_of(predictions); },
                            .added = added,
                            .result = [average](std::span<const float> state) { return f1_score(average, state); }});
}

MetricPtr make_auc(const Config& config) {
  constexpr std::int64_t most = 10000;
  const std::int64_t count = config.integer_from("num_thresholds", 2);
  if (count > most) throw Error(fmt::format("auc: num_thresholds must be at most {}, got {}", most, count));
  const std::string& curve = config.text("curve");
  if (curve != "ROC" && curve != "PR") throw Error(fmt::format("auc: curve must be 'ROC' or 'PR', got '{}'", curve));
  // Of all predictions and thresholds, by one product: rows of labels and of ones with columns of predictions above.
  const auto added = [owner = config.owner(), count](Graph& graph, Value labels, Value predictions) {
    const Value actual = positive_labels(graph, owner, labels, predictions);
    const Value row = ops::reshape(graph, actual, {1, -1});
    const std::array rows{row, ops::broadcast_to(graph, graph.constant(1.0F), graph.type(row).shape)};
    HostTensor levels(TensorType{{count}, Dtype::f32});
    std::ranges::copy(thresholds_of(count), levels.values<float>().begin());
    const Value column = ops::reshape(graph, predictions, {-1, 1});
    const Value positive = in_float(graph, ops::greater(graph, column, graph.constant(levels)));
    return ops::reshape(graph, ops::matmul(graph, ops::concat(graph, rows, 0), positive), {2 * count});
  };
  const auto area = [roc = curve == "ROC"](std::span<const float> state) {
    const std::size_t half = state.size() / 2;
    const Curve counted{{state.begin(), state.begin() + static_cast<std::ptrdiff_t>(half)},
                        {state.begin() + static_cast<std::ptrdiff_t>(half), state.end()}};
    return roc ? roc_area(counted) : precision_recall_area(counted);
  };
  return make_state_metric({.name = config.owner(),
                            .size = [count](const TensorType&) { return 2 * count; },
                            .added = added,
                            .result = area});
}

}  // namespace gpubench
