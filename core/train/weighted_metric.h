// A metric whose mean weighs examples as the loss does.
#pragma once
#include <string>
#include <utility>

#include "core/nn/metric.h"

namespace gpubench {

/// Its state is the sum of the values times their weights, and the sum of the weights; both 1 for each value where the
/// data have no weights.
class WeightedMetric final : public Metric {
 public:
  /// Throws Error for a metric that does not average.
  WeightedMetric(MetricPtr of, std::string name);
  std::optional<Direction> direction() const override { return of_->direction(); }
  std::string name() const override { return name_; }
  bool averages() const override { return false; }
  /// As in Keras, 0 where all weights are 0.
  double result(std::span<const float> state) const override { return state[1] == 0 ? 0 : of_->result(state); }

 protected:
  Value values(Graph& graph, Value labels, Value predictions) const override {
    return of_->call(graph, labels, predictions);
  }

 private:
  MetricPtr of_;
  std::string name_;
};

}  // namespace gpubench
