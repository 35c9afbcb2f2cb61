// The area under a curve of counts at thresholds: of true over false positive rates, or of precision over recall.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/counting.h"
#include "core/nn/labels.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

/// Numbers of true positives and of positive predictions above each threshold.
struct Curve {
  std::vector<double> both, positive;
  double actual() const { return both[0]; }  // all are above the first threshold
  double negatives() const { return positive[0] - both[0]; }
};

/// The height of the area between two thresholds, from the curve's values there.
using Height = double (*)(double before, double after);
struct SummationMethod {
  std::string_view name;
  Height height;
};
constexpr std::array summation_methods = {
    SummationMethod{"interpolation", [](double a, double b) { return (a + b) / 2; }},
    SummationMethod{"majoring", [](double a, double b) { return std::max(a, b); }},
    SummationMethod{"minoring", [](double a, double b) { return std::min(a, b); }},
};

/// Of the true positive rate over the false positive rate, or of precision over recall.
double area_of(const Curve& curve, bool roc, Height height) {
  const auto across = [&](std::size_t at) {
    return roc ? ratio(curve.positive[at] - curve.both[at], curve.negatives()) : ratio(curve.both[at], curve.actual());
  };
  const auto value = [&](std::size_t at) { return ratio(curve.both[at], roc ? curve.actual() : curve.positive[at]); };
  double area = 0;
  for (std::size_t i = 0; i + 1 < curve.both.size(); ++i) {
    area += (across(i) - across(i + 1)) * height(value(i), value(i + 1));
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

/// From just below 0 to just above 1: those between are given, or the number of all is.
std::vector<float> curve_thresholds(const Config& config) {
  constexpr float margin = 1e-7F;
  constexpr std::int64_t most = 10000;
  const Numbers* const given = config.given_numbers("thresholds");
  Numbers inner;
  if (given != nullptr) {
    expect_within(config, "thresholds", *given, 0, 1);
    inner = *given;
    std::ranges::sort(inner);
  } else {
    const std::int64_t count = config.integer_from("num_thresholds", 2);
    if (count > most) throw Error(fmt::format("auc: num_thresholds must be at most {}, got {}", most, count));
    for (std::int64_t i = 1; i + 1 < count; ++i)
      inner.push_back(static_cast<double>(i) / static_cast<double>(count - 1));
  }
  std::vector<float> thresholds{-margin};
  thresholds.insert(thresholds.end(), inner.begin(), inner.end());
  thresholds.push_back(1 + margin);
  return thresholds;
}

/// Weights of labels, none if not given.
Numbers label_weights_of(const Config& config) {
  const Numbers* const given = config.given_numbers("label_weights");
  if (given == nullptr) return {};
  expect_within(config, "label_weights", *given, 0, std::numeric_limits<double>::max());
  return *given;
}

/// What an AUC counts.
struct Counted {
  std::string owner;
  std::vector<float> thresholds;
  bool logits, by_label;
  std::int64_t labels;  ///< -1: any number
  Numbers label_weights;

  void check(const TensorType& predictions) const {
    const std::int64_t columns = predictions.shape.empty() ? 1 : predictions.shape.back();
    if (by_label && predictions.rank() != 2) {
      throw Error(
          fmt::format("{}: multi_label needs predictions [batch, labels], got {}", owner, to_string(predictions)));
    }
    for (const std::int64_t wanted : {labels, label_weights.empty() ? -1 : std::ssize(label_weights)}) {
      if (wanted == -1 || wanted == columns) continue;
      throw Error(fmt::format("{}: predictions {} have {} labels, and {} are expected", owner, to_string(predictions),
                              columns, wanted));
    }
  }

  /// By label, if it does so: true positives above each threshold, then all predictions above it. All of them by one
  /// product: rows of labels and of ones, times their weights, with columns of predictions above thresholds.
  Value operator()(Graph& graph, Value given, Value predictions, Value weights) const {
    const TensorType type = graph.type(predictions);
    check(type);
    if (logits) predictions = ops::sigmoid(graph, predictions);
    Value weight = graph.constant(1.0F);
    if (weights) weight = fitting_weights(graph, owner, weights, type);
    if (!label_weights.empty() && !by_label) {
      const std::vector<float> by_column(label_weights.begin(), label_weights.end());
      weight = ops::mul(graph, weight, levels_of(graph, by_column));
    }
    const Shape lead = by_label ? Shape{type.shape[1]} : Shape{};
    const auto placed = [&](Value x, Shape last) {
      if (by_label) x = ops::transpose(graph, x);
      Shape shape = lead;
      shape.insert(shape.end(), last.begin(), last.end());
      return ops::reshape(graph, x, std::move(shape));
    };
    const Value all = ops::broadcast_to(graph, weight, type.shape);
    const Value actual = ops::mul(graph, positive_labels(graph, owner, given, predictions), all);
    const std::array rows{placed(actual, {1, -1}), placed(all, {1, -1})};
    const Value positive =
        in_float(graph, ops::greater(graph, placed(predictions, {-1, 1}), levels_of(graph, thresholds)));
    return ops::reshape(graph, ops::matmul(graph, ops::concat(graph, rows, std::ssize(lead)), positive), {-1});
  }
};

}  // namespace

MetricPtr make_auc(const Config& config) {
  const std::string& curve = config.text("curve");
  if (curve != "ROC" && curve != "PR") throw Error(fmt::format("auc: curve must be 'ROC' or 'PR', got '{}'", curve));
  const auto method =
      std::ranges::find(summation_methods, std::string_view(config.text("summation_method")), &SummationMethod::name);
  if (method == summation_methods.end()) {
    throw_unknown_name("auc: unknown summation_method", config.text("summation_method"),
                       names_of(summation_methods, &SummationMethod::name));
  }
  const Counted counted{config.owner(),
                        curve_thresholds(config),
                        config.flag("from_logits"),
                        config.flag("multi_label"),
                        optional_from(config, "num_labels", 1),
                        label_weights_of(config)};
  if (counted.labels > 0 && !counted.by_label) throw Error("auc: num_labels is for multi_label = true only");
  const std::size_t count = counted.thresholds.size();
  const bool roc = curve == "ROC", interpolates = method->name == "interpolation";
  const auto area = [=, height = method->height](std::span<const float> state) {
    const auto of_label = [&](std::size_t label) {
      const auto begin = state.begin() + static_cast<std::ptrdiff_t>(2 * count * label);
      const auto middle = begin + static_cast<std::ptrdiff_t>(count);
      const Curve points{{begin, middle}, {middle, middle + static_cast<std::ptrdiff_t>(count)}};
      return !roc && interpolates ? precision_recall_area(points) : area_of(points, roc, height);
    };
    if (!counted.by_label) return std::vector{of_label(0)};
    double sum = 0, weights = 0;
    for (std::size_t label = 0; label < state.size() / (2 * count); ++label) {
      const double weight = counted.label_weights.empty() ? 1 : counted.label_weights[label];
      sum += weight * of_label(label);
      weights += weight;
    }
    return std::vector{ratio(sum, weights)};
  };
  const auto size = [by_label = counted.by_label, count](const TensorType& predictions) {
    return static_cast<std::int64_t>(2 * count) * (by_label ? columns_of(predictions) : 1);
  };
  return make_state_metric({.name = config.owner(), .size = size, .added = counted, .results = area});
}

}  // namespace gpubench
