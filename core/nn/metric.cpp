#include "core/nn/metric.h"

#include <array>
#include <cmath>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/labels.h"
#include "core/ops/cast.h"
#include "core/ops/metric.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

/// [batch, ..., classes] as rows of classes.
Value in_rows(Graph& graph, Value x) {
  const TensorType& type = graph.type(x);
  const std::int64_t columns = type.shape.back();
  return ops::reshape(graph, x, {columns == 0 ? 0 : type.elements() / columns, columns});
}

/// One number for each row of the predictions, [batch, ...], so that weights of examples or of steps fit.
Value in_places(Graph& graph, Value rows, Value predictions) {
  Shape places = graph.type(predictions).shape;
  places.pop_back();
  return ops::reshape(graph, rows, std::move(places));
}

Value one_hot_matches(Graph& graph, const std::string& owner, int k, Value labels, Value predictions) {
  expect_classes(graph, owner, predictions);
  const Value one_hot = matching_labels(graph, owner, labels, predictions);
  const Value matches = ops::top_k_matches(graph, in_rows(graph, predictions), in_rows(graph, one_hot), k);
  return in_places(graph, matches, predictions);
}

Value index_matches(Graph& graph, const std::string& owner, int k, Value labels, Value predictions) {
  const Value indices = class_indices(graph, owner, labels, predictions);
  const Value matches = ops::top_k_matches(graph, in_rows(graph, predictions),
                                           ops::reshape(graph, indices, {graph.type(indices).elements()}), k);
  return in_places(graph, matches, predictions);
}

Value threshold_matches(Graph& graph, const std::string& owner, double threshold, Value labels, Value predictions) {
  return ops::binary_matches(graph, predictions, matching_labels(graph, owner, labels, predictions), threshold);
}

/// The last extent. Throws Error for predictions that have none.
std::int64_t columns_of(const Graph& graph, const std::string& owner, Value predictions) {
  const TensorType& type = graph.type(predictions);
  if (type.rank() > 0) return type.shape.back();
  throw Error(fmt::format("{}: predictions must be [batch] or [batch, classes], got {}", owner, to_string(type)));
}

/// Whether labels are class indices, as Keras decides it: of lower rank, or one column for several classes.
bool are_indices(const Graph& graph, const std::string& owner, Value labels, Value predictions) {
  const std::int64_t columns = columns_of(graph, owner, predictions);
  const Shape& given = graph.type(labels).shape;
  const Shape& predicted = graph.type(predictions).shape;
  return given.size() < predicted.size() || (given.back() == 1 && columns > 1);
}

/// A metric with a name that is a function of labels and predictions.
class FunctionMetric final : public Metric {
 public:
  FunctionMetric(std::string name, GraphFunction function) : name_(std::move(name)), function_(std::move(function)) {}
  std::string name() const override { return name_; }
  Value values(Graph& graph, Value labels, Value predictions) const override {
    const Value value = function_(graph, labels, in_float32(graph, predictions));
    if (!value) throw Error(fmt::format("metric '{}': must return a tensor", name_));
    return ops::cast(graph, value, Dtype::f32);
  }

 private:
  std::string name_;
  GraphFunction function_;
};

MetricPtr function_metric(std::string name, GraphFunction function) {
  return std::make_shared<const FunctionMetric>(std::move(name), std::move(function));
}

/// A metric whose mean of values is given another form.
class FormedMetric final : public Metric {
 public:
  FormedMetric(MetricPtr values, double (*form)(double mean), bool takes_masks = true)
      : values_(std::move(values)), form_(form), takes_masks_(takes_masks) {}
  std::string name() const override { return values_->name(); }
  bool takes_masks() const override { return takes_masks_; }
  Value values(Graph& graph, Value labels, Value predictions) const override {
    return values_->call(graph, labels, predictions);
  }
  std::vector<double> results(std::span<const float> state) const override {
    return {form_(Metric::results(state).front())};
  }

 private:
  MetricPtr values_;
  double (*form_)(double);
  bool takes_masks_;
};

/// A metric by its name in the table, which says which of its values are better.
class NamedMetric final : public Metric {
 public:
  NamedMetric(MetricPtr of, std::string name, std::optional<Direction> direction)
      : of_(std::move(of)), name_(std::move(name)), direction_(direction) {}
  std::optional<Direction> direction() const override { return direction_; }
  std::string name() const override { return name_; }
  bool averages() const override { return of_->averages(); }
  bool takes_masks() const override { return of_->takes_masks(); }
  std::int64_t state_size(const TensorType& predictions) const override { return of_->state_size(predictions); }
  Value values(Graph& graph, Value labels, Value predictions) const override {
    return of_->call(graph, labels, predictions);
  }
  Value weighted_sums(Graph& graph, Value labels, Value predictions, Value weights) const override {
    return of_->weighted(graph, labels, predictions, weights);
  }
  std::vector<double> results(std::span<const float> state) const override { return of_->results(state); }
  bool takes_values() const override { return of_->takes_values(); }

 private:
  MetricPtr of_;
  std::string name_;
  std::optional<Direction> direction_;
};

/// The mean of what a script gives it.
class Mean final : public Metric {
 public:
  std::string name() const override { return "mean"; }
  bool takes_values() const override { return true; }
  Value values(Graph& graph, Value values, Value /*same*/) const override {
    return ops::cast(graph, values, Dtype::f32);
  }
};

class OwnStateMetric final : public Metric {
 public:
  explicit OwnStateMetric(StateMetric of) : of_(std::move(of)) {}
  std::string name() const override { return of_.name; }
  bool averages() const override { return false; }
  std::int64_t state_size(const TensorType& predictions) const override { return of_.size(predictions); }
  Value values(Graph& graph, Value labels, Value predictions) const override {
    return of_.added(graph, labels, in_float32(graph, predictions), {});
  }
  Value weighted_sums(Graph& graph, Value labels, Value predictions, Value weights) const override {
    return of_.added(graph, labels, in_float32(graph, predictions), weights);
  }
  std::vector<double> results(std::span<const float> state) const override { return of_.results(state); }

 private:
  StateMetric of_;
};

constexpr double default_threshold = 0.5;

/// A name that Keras takes for a metric's own.
struct OtherMetricName {
  std::string_view given, meant;
};
constexpr std::array other_metric_names = {
    OtherMetricName{"BCE", "binary_crossentropy"},
    OtherMetricName{"LogCoshError", "logcosh"},
    OtherMetricName{"MAE", "mean_absolute_error"},
    OtherMetricName{"MAPE", "mean_absolute_percentage_error"},
    OtherMetricName{"MSE", "mean_squared_error"},
    OtherMetricName{"MSLE", "mean_squared_logarithmic_error"},
    OtherMetricName{"acc", "accuracy"},
    OtherMetricName{"bce", "binary_crossentropy"},
    OtherMetricName{"log_cosh_error", "logcosh"},
    OtherMetricName{"mae", "mean_absolute_error"},
    OtherMetricName{"mape", "mean_absolute_percentage_error"},
    OtherMetricName{"mse", "mean_squared_error"},
    OtherMetricName{"msle", "mean_squared_logarithmic_error"},
};

MetricPtr make_accuracy(const Config& config) {
  return function_metric("accuracy", [owner = config.owner()](Graph& graph, Value labels, Value predictions) {
    if (columns_of(graph, owner, predictions) == 1) {
      return threshold_matches(graph, owner, default_threshold, labels, predictions);
    }
    if (are_indices(graph, owner, labels, predictions)) return index_matches(graph, owner, 1, labels, predictions);
    return one_hot_matches(graph, owner, 1, labels, predictions);
  });
}

MetricPtr make_top_k(const Config& config) {
  const std::int64_t asked = config.integer_from("k", 1);
  if (asked > INT32_MAX)
    throw Error(fmt::format("{}: option 'k': 1 to {} is expected, got {}", config.owner(), INT32_MAX, asked));
  const int k = static_cast<int>(asked);
  return function_metric(config.owner(), [owner = config.owner(), k](Graph& graph, Value labels, Value predictions) {
    if (are_indices(graph, owner, labels, predictions)) return index_matches(graph, owner, k, labels, predictions);
    return one_hot_matches(graph, owner, k, labels, predictions);
  });
}

MetricPtr make_categorical(const Config& config) {
  return function_metric(config.owner(), [owner = config.owner()](Graph& graph, Value labels, Value predictions) {
    return one_hot_matches(graph, owner, 1, labels, predictions);
  });
}

MetricPtr make_sparse(const Config& config) {
  return function_metric(config.owner(), [owner = config.owner()](Graph& graph, Value labels, Value predictions) {
    return index_matches(graph, owner, 1, labels, predictions);
  });
}

MetricPtr make_binary(const Config& config) {
  const double threshold = config.number("threshold");
  return function_metric(config.owner(),
                         [owner = config.owner(), threshold](Graph& graph, Value labels, Value predictions) {
                           return threshold_matches(graph, owner, threshold, labels, predictions);
                         });
}

/// `logcosh` has the name that Keras' figures have.
MetricPtr make_loss_metric(const Config& config) {
  const LossPtr loss = make_loss(config.owner() == "logcosh" ? "log_cosh" : config.owner(), config.entries());
  return function_metric(config.owner(), [loss](Graph& graph, Value labels, Value predictions) {
    return loss->call(graph, labels, predictions);
  });
}

/// Keras' metric is the cosine, its loss minus the cosine.
MetricPtr make_cosine_similarity(const Config& config) {
  return std::make_shared<const FormedMetric>(make_loss_metric(config), [](double mean) { return -mean; });
}

MetricPtr make_root_mean_squared_error(const Config& config) {
  const LossPtr loss = make_loss("mean_squared_error");
  MetricPtr squares = function_metric(config.owner(), [loss](Graph& graph, Value labels, Value predictions) {
    return loss->call(graph, labels, predictions);
  });
  return std::make_shared<const FormedMetric>(
      std::move(squares), [](double mean) { return std::sqrt(mean); }, false);
}

MetricPtr make_mean(const Config& /*config*/) {
  return std::make_shared<const Mean>();
}

}  // namespace

Value Metric::call(Graph& graph, Value labels, Value predictions) const {
  return values(graph, meeting_labels(graph, labels, predictions), predictions);
}

Value Metric::weighted(Graph& graph, Value labels, Value predictions, Value weights) const {
  return weighted_sums(graph, meeting_labels(graph, labels, predictions), predictions, weights);
}

Value Metric::weighted_sums(Graph& graph, Value labels, Value predictions, Value weights) const {
  return sums_of_weighted(graph, name(), values(graph, labels, predictions), weights);
}

Value sums_of_weighted(Graph& graph, const std::string& name, Value values, Value weights) {
  const Value ones = ops::broadcast_to(graph, graph.constant(1.0F), graph.type(values).shape);
  std::vector<Value> sums;
  for (const Value summed : {values, ones}) {
    sums.push_back(ops::reshape(graph, ops::reduce_sum(graph, weighted(graph, name, summed, weights)), {1}));
  }
  return ops::concat(graph, sums, 0);
}

std::vector<double> Metric::results(std::span<const float> state) const {
  return {static_cast<double>(state[0]) / static_cast<double>(state[1])};
}

const std::vector<MetricKind>& metric_kinds() {
  static const ConfigField threshold{"threshold", default_threshold}, thresholds{"thresholds", Numbers{not_given}},
      k{"k", std::int64_t{5}}, class_id{"class_id", std::int64_t{-1}}, top_k{"top_k", std::int64_t{-1}},
      logits{"from_logits", false}, smoothing{"label_smoothing", 0.0}, classes{"num_classes", std::int64_t{0}, true},
      targets{"target_class_ids", Shape{}, true}, ignored{"ignore_class", no_class}, axis{"axis", std::int64_t{-1}},
      sparse_labels{"sparse_y_true", true}, sparse{"sparse_y_pred", true}, dense{"sparse_y_pred", false};
  using enum Direction;
  static const std::vector<MetricKind> kinds = {
      {"accuracy", {}, &make_accuracy, up},
      {"auc",
       {{"num_thresholds", std::int64_t{200}},
        {"curve", std::string("ROC")},
        {"summation_method", std::string("interpolation")},
        thresholds,
        {"multi_label", false},
        {"num_labels", std::int64_t{-1}},
        {"label_weights", Numbers{not_given}},
        logits},
       &make_auc,
       up},
      {"binary_accuracy", {threshold}, &make_binary, up},
      {"binary_crossentropy", {logits, smoothing}, &make_loss_metric, down},
      {"binary_io_u", {{"target_class_ids", Shape{0, 1}}, threshold}, &make_binary_iou, up},
      {"categorical_accuracy", {}, &make_categorical, up},
      {"categorical_crossentropy", {logits, smoothing}, &make_loss_metric, down},
      {"categorical_hinge", {}, &make_loss_metric, down},
      {"cosine_similarity", {axis}, &make_cosine_similarity, up},
      {"f1_score", {{"average", std::string("macro")}, {"threshold", -1.0}}, &make_f1_score, up},
      {"false_negatives", {thresholds}, &make_false_negatives, std::nullopt},
      {"false_positives", {thresholds}, &make_false_positives, std::nullopt},
      {"hinge", {}, &make_loss_metric, down},
      {"io_u", {classes, targets, ignored, sparse_labels, sparse, axis}, &make_iou, up},
      {"kl_divergence", {}, &make_loss_metric, down},
      {"logcosh", {}, &make_loss_metric, down},
      {"mean", {}, &make_mean, std::nullopt},
      {"mean_absolute_error", {}, &make_loss_metric, down},
      {"mean_absolute_percentage_error", {}, &make_loss_metric, down},
      {"mean_io_u", {classes, ignored, sparse_labels, sparse, axis}, &make_iou, up},
      {"mean_squared_error", {}, &make_loss_metric, down},
      {"mean_squared_logarithmic_error", {}, &make_loss_metric, down},
      {"one_hot_io_u", {classes, targets, ignored, dense, axis}, &make_iou, up},
      {"one_hot_mean_io_u", {classes, ignored, dense, axis}, &make_iou, up},
      {"poisson", {}, &make_loss_metric, down},
      {"precision", {thresholds, top_k, class_id}, &make_precision, up},
      {"r2_score",
       {{"class_aggregation", std::string("uniform_average")}, {"num_regressors", std::int64_t{0}}},
       &make_r2_score,
       up},
      {"recall", {thresholds, top_k, class_id}, &make_recall, up},
      {"root_mean_squared_error", {}, &make_root_mean_squared_error, down},
      {"sparse_categorical_accuracy", {}, &make_sparse, up},
      {"sparse_categorical_crossentropy", {logits}, &make_loss_metric, down},
      {"sparse_top_k_categorical_accuracy", {k}, &make_top_k, up},
      {"squared_hinge", {}, &make_loss_metric, down},
      {"top_k_categorical_accuracy", {k}, &make_top_k, up},
      {"true_negatives", {thresholds}, &make_true_negatives, std::nullopt},
      {"true_positives", {thresholds}, &make_true_positives, std::nullopt},
  };
  return kinds;
}

MetricPtr make_metric(std::string_view name, const ConfigEntries& options) {
  std::string shown(name);  // Keras' figures have the names that are given
  for (const auto& [given, meant] : other_metric_names) {
    if (name == given) name = meant;
  }
  const std::string of_class = name_of_class(name);
  for (const MetricKind& kind : metric_kinds()) {
    if (kind.name != name && kind.name != of_class) continue;
    return std::make_shared<const NamedMetric>(kind.make(Config(kind.name, kind.fields, options)), std::move(shown),
                                               kind.direction);
  }
  throw_unknown_name("unknown metric", name, names_of(metric_kinds(), &MetricKind::name),
                     "; or a function of labels and predictions", "metric");
}

MetricPtr make_state_metric(StateMetric metric) {
  return std::make_shared<const OwnStateMetric>(std::move(metric));
}

std::vector<double> results_of(const Metric* metric, std::span<const float> state) {
  if (metric != nullptr && !metric->averages()) return metric->results(state);
  const bool saw_nothing = state[1] <= 0;  // the count of an emulated device is not a number, and so is the mean
  if (saw_nothing) return {};
  if (metric != nullptr) return metric->results(state);
  return {static_cast<double>(state[0]) / static_cast<double>(state[1])};
}

MetricPtr make_custom_metric(std::string name, GraphFunction function) {
  const std::string owner = fmt::format("metric '{}'", name);
  return function_metric(std::move(name),
                         [owner, function = std::move(function)](Graph& graph, Value labels, Value predictions) {
                           expect_no_broadcast(graph, owner, labels, predictions);
                           return function(graph, labels, predictions);
                         });
}

}  // namespace gpubench
