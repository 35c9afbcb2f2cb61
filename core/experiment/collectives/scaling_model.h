// Predicts the time of a training step on many replicas from three inputs: a step on one replica, the all-reduce time
// by size on few replicas, and how much of the exchange overlaps the backward pass. Pure functions; assumptions() lists
// what they assume.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/experiment/collectives/all_reduce_curve.h"

namespace gpubench {

struct MeasuredAllReduce {
  int replicas = 2;
  AllReduceTime time;
};
struct MeasuredStep {
  int replicas = 1;
  double seconds = 0;
};

struct ScalingInputs {
  std::vector<MeasuredAllReduce> all_reduces = {};
  /// The model uses all-reduces of up to this many replicas, and predicts the others. Default: all.
  std::optional<int> fit_up_to = {};
  ExchangePattern pattern = ExchangePattern::ring;

  double step_seconds = 0;                  ///< of one replica alone
  double gradient_bytes = 0;                ///< exchanged per step
  std::optional<double> bucket_bytes = {};  ///< exchanged at a time; default: all at once
  double overlap = 0;                       ///< share of the exchange that overlaps the backward pass
  double backward_share = 2.0 / 3;          ///< share of the one-replica step; an upper limit for the overlap
  std::vector<int> replicas = {};           ///< to predict
  std::vector<MeasuredStep> steps = {};     ///< with a fixed batch per replica, for comparison with the prediction
};

struct PredictedStep {
  int replicas = 1;
  double all_reduce = 0;                          ///< seconds, over all buckets
  double hidden = 0;                              ///< the part of it that is hidden, in weak scaling
  double weak_step = 0, weak_efficiency = 1;      ///< the batch grows with the replicas: T_1 / T_n
  double strong_step = 0, strong_efficiency = 1;  ///< the same batch is divided: T_1 / (n T_n)
  std::optional<double> measured_step = {};       ///< weak scaling
};

/// `seconds`: the prediction; for replicas that the model uses, from the other sizes only.
struct PredictedAllReduce {
  MeasuredAllReduce measured;
  double seconds = 0;
};

/// Relative error of a prediction: 0.1 means 10 % too long.
inline double prediction_error(double predicted, double measured) {
  return predicted / measured - 1;
}

class ScalingModel {
 public:
  /// Throws Error naming inputs that are missing or out of range.
  explicit ScalingModel(ScalingInputs inputs);

  /// For `replicas` of the inputs and the measured ones, ascending.
  std::vector<PredictedStep> steps() const;
  std::vector<PredictedAllReduce> all_reduces() const;
  /// One curve per number of measured replicas; ascending.
  const std::vector<AllReduceCurve>& curves() const { return curves_; }
  /// The assumptions of the model, a sentence each.
  std::vector<std::string> assumptions() const;

 private:
  double all_reduce(double bytes, int replicas) const;
  const AllReduceCurve& curve_for(int replicas) const;
  PredictedStep step(int replicas) const;

  ScalingInputs inputs_;
  std::vector<AllReduceCurve> curves_;
};

}  // namespace gpubench
