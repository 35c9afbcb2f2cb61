// Values that training reports besides the loss; their mean over an epoch is accumulated inside the graph.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "core/nn/config.h"
#include "core/nn/loss.h"

namespace gpubench {

class Metric {
 public:
  virtual ~Metric() = default;
  virtual std::string name() const = 0;
  /// float32 values to average. Throws Error naming the metric and both types.
  virtual Value call(Graph& graph, Value labels, Value predictions) const = 0;
};
using MetricPtr = std::shared_ptr<const Metric>;

struct MetricKind {
  std::string name;
  std::vector<ConfigField> fields;
  MetricPtr (*make)(const Config& config);
};
/// accuracy (chosen by the types of labels and predictions, as in Keras), categorical_accuracy,
/// sparse_categorical_accuracy, binary_accuracy (threshold), top_k_categorical_accuracy (k), mean_squared_error.
const std::vector<MetricKind>& metric_kinds();
/// Throws Error listing the names.
MetricPtr make_metric(std::string_view name, const ConfigEntries& options = {});
MetricPtr make_custom_metric(std::string name, GraphFunction function);

}  // namespace gpubench
