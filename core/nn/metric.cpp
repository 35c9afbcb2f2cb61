#include "core/nn/metric.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/labels.h"
#include "core/ops/cast.h"
#include "core/ops/metric.h"

namespace gpubench {
namespace {

Value one_hot_matches(Graph& graph, const std::string& owner, int k, Value labels, Value predictions) {
  expect_classes(graph, owner, predictions);
  return ops::top_k_matches(graph, predictions, matching_labels(graph, owner, labels, predictions), k);
}

Value index_matches(Graph& graph, const std::string& owner, int k, Value labels, Value predictions) {
  return ops::top_k_matches(graph, predictions, class_indices(graph, owner, labels, predictions), k);
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
  Value call(Graph& graph, Value labels, Value predictions) const override {
    const Value value = function_(graph, labels, in_float32(graph, predictions));
    if (!value) throw Error(fmt::format("metric '{}': must return a tensor", name_));
    return ops::cast(graph, value, Dtype::f32);
  }

 private:
  std::string name_;
  GraphFunction function_;
};

constexpr double default_threshold = 0.5;

MetricPtr make_accuracy(const Config& config) {
  return make_custom_metric("accuracy", [owner = config.owner()](Graph& graph, Value labels, Value predictions) {
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
  return make_custom_metric(config.owner(), [owner = config.owner(), k](Graph& graph, Value labels, Value predictions) {
    if (are_indices(graph, owner, labels, predictions)) return index_matches(graph, owner, k, labels, predictions);
    return one_hot_matches(graph, owner, k, labels, predictions);
  });
}

MetricPtr make_categorical(const Config& config) {
  return make_custom_metric(config.owner(), [owner = config.owner()](Graph& graph, Value labels, Value predictions) {
    return one_hot_matches(graph, owner, 1, labels, predictions);
  });
}

MetricPtr make_sparse(const Config& config) {
  return make_custom_metric(config.owner(), [owner = config.owner()](Graph& graph, Value labels, Value predictions) {
    return index_matches(graph, owner, 1, labels, predictions);
  });
}

MetricPtr make_binary(const Config& config) {
  const double threshold = config.number("threshold");
  return make_custom_metric(config.owner(),
                            [owner = config.owner(), threshold](Graph& graph, Value labels, Value predictions) {
                              return threshold_matches(graph, owner, threshold, labels, predictions);
                            });
}

MetricPtr make_loss_metric(const Config& config) {
  const LossPtr loss = make_loss(config.owner());
  return make_custom_metric(config.owner(), [loss](Graph& graph, Value labels, Value predictions) {
    return loss->call(graph, labels, predictions);
  });
}

}  // namespace

const std::vector<MetricKind>& metric_kinds() {
  static const std::vector<MetricKind> kinds = {
      {"accuracy", {}, &make_accuracy},
      {"categorical_accuracy", {}, &make_categorical},
      {"sparse_categorical_accuracy", {}, &make_sparse},
      {"binary_accuracy", {{"threshold", default_threshold}}, &make_binary},
      {"top_k_categorical_accuracy", {{"k", std::int64_t{5}}}, &make_top_k},
      {"mean_squared_error", {}, &make_loss_metric},
      {"categorical_crossentropy", {}, &make_loss_metric},
      {"sparse_categorical_crossentropy", {}, &make_loss_metric},
      {"binary_crossentropy", {}, &make_loss_metric},
  };
  return kinds;
}

MetricPtr make_metric(std::string_view name, const ConfigEntries& options) {
  if (name == "acc") name = "accuracy";
  if (name == "mse") name = "mean_squared_error";
  for (const MetricKind& kind : metric_kinds()) {
    if (kind.name == name) return kind.make(Config(kind.name, kind.fields, options));
  }
  throw_unknown_name("unknown metric", name, names_of(metric_kinds(), &MetricKind::name),
                     "; or a function of labels and predictions");
}

MetricPtr make_custom_metric(std::string name, GraphFunction function) {
  return std::make_shared<const FunctionMetric>(std::move(name), std::move(function));
}

}  // namespace gpubench
