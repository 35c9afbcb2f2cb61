// Values that training reports besides the loss. Their state over an epoch, a sum and a count or counts of their own,
// is accumulated inside the graph; the states of replicas add up.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/nn/config.h"
#include "core/nn/loss.h"

namespace gpubench {

/// Which values of a figure are better.
enum class Direction : std::uint8_t { down, up };

class Metric {
 public:
  virtual ~Metric() = default;
  /// None for a metric of which only its script knows.
  virtual std::optional<Direction> direction() const { return std::nullopt; }
  virtual std::string name() const = 0;
  /// Whether its state is the sum and the count of values.
  virtual bool averages() const { return true; }
  /// Whether masked steps of the predictions are left out: of Keras' means of a function, not of its other metrics.
  virtual bool takes_masks() const { return averages(); }
  /// Numbers in the float32 state, for predictions of this type for one example.
  virtual std::int64_t state_size(const TensorType& /*predictions*/) const { return 2; }
  /// float32 values to average, or else what is added to the state. Throws Error naming the metric and both types.
  Value call(Graph& graph, Value labels, Value predictions) const;
  /// What examples with weights add to the state; of one that averages the sums of weighted values and of weights.
  Value weighted(Graph& graph, Value labels, Value predictions, Value weights) const;
  /// The figures of a state: one, or one for each threshold or class. Of one that averages, some values have been
  /// added.
  virtual std::vector<double> results(std::span<const float> state) const;
  /// Whether it averages what a script gives it, instead of comparing predictions with labels.
  virtual bool takes_values() const { return false; }

 protected:
  /// Called by call(), with labels that meet the predictions.
  virtual Value values(Graph& graph, Value labels, Value predictions) const = 0;
  /// Called by weighted(), with such labels.
  virtual Value weighted_sums(Graph& graph, Value labels, Value predictions, Value weights) const;
};
using MetricPtr = std::shared_ptr<const Metric>;

struct MetricKind {
  std::string name;
  std::vector<ConfigField> fields;
  MetricPtr (*make)(const Config& config);
  std::optional<Direction> direction;
};
/// In the order of their names. `accuracy` is chosen by the types of labels and predictions, as in Keras.
const std::vector<MetricKind>& metric_kinds();
/// Takes Keras' short names too: "acc". Throws Error listing the names.
MetricPtr make_metric(std::string_view name, const ConfigEntries& options = {});
MetricPtr make_custom_metric(std::string name, GraphFunction function);

/// A metric with a state of its own.
struct StateMetric {
  /// What is added to the state, from labels and float32 predictions, and the weights of examples if there are any.
  using Added = std::function<Value(Graph& graph, Value labels, Value predictions, Value weights)>;

  std::string name;
  std::function<std::int64_t(const TensorType& predictions)> size;
  Added added;
  std::function<std::vector<double>(std::span<const float> state)> results;
};
MetricPtr make_state_metric(StateMetric metric);

MetricPtr make_auc(const Config& config);

// Of thresholds and classes, in confusion_metrics.cpp.
MetricPtr make_f1_score(const Config& config);
MetricPtr make_false_negatives(const Config& config);
MetricPtr make_false_positives(const Config& config);
MetricPtr make_precision(const Config& config);
MetricPtr make_recall(const Config& config);
MetricPtr make_true_negatives(const Config& config);
MetricPtr make_true_positives(const Config& config);

// Of overlaps, for one class or several, in iou_metrics.cpp.
MetricPtr make_binary_iou(const Config& config);
MetricPtr make_iou(const Config& config);

MetricPtr make_r2_score(const Config& config);

/// The sums of a metric's weighted values and of their weights, [2].
Value sums_of_weighted(Graph& graph, const std::string& name, Value values, Value weights);

/// The figures of a state; none if it averages and has seen nothing. `metric`: null for a mean.
std::vector<double> results_of(const Metric* metric, std::span<const float> state);

}  // namespace gpubench
