// A metric whose examples have weights, as the loss' examples have.
#pragma once
#include <string>
#include <utility>

#include "core/nn/metric.h"

namespace gpubench {

/// What weighted examples add to the metric's state, with weights of 1 where the data have none. The state of one that
/// averages is the sum of the values times their weights, and the sum of the weights.
class WeightedMetric final : public Metric {
 public:
  WeightedMetric(MetricPtr of, std::string name) : of_(std::move(of)), name_(std::move(name)) {}
  const Metric& of() const { return *of_; }
  std::optional<Direction> direction() const override { return of_->direction(); }
  std::string name() const override { return name_; }
  bool averages() const override { return false; }
  bool takes_masks() const override { return of_->takes_masks(); }
  std::int64_t state_size(const TensorType& predictions) const override { return of_->state_size(predictions); }
  /// As in Keras, a mean is 0 where all weights are 0.
  std::vector<double> results(std::span<const float> state) const override {
    if (of_->averages() && state[1] == 0) return {0};
    return of_->results(state);
  }

 protected:
  Value values(Graph& graph, Value labels, Value predictions) const override {
    return of_->call(graph, labels, predictions);
  }

 private:
  MetricPtr of_;
  std::string name_;
};

}  // namespace gpubench
