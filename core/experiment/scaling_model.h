// What a training step takes on many replicas, from a step alone, the all-reduce by size on few, and how much of the
// exchange the backward pass hides. All pure functions; assumptions() states what they assume.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/experiment/all_reduce_curve.h"

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
  /// The model is made of all-reduces on up to so many replicas, and predicts the others. All by default.
  std::optional<int> fit_up_to = {};
  ExchangePattern pattern = ExchangePattern::ring;

  double step_seconds = 0;                  ///< of one replica alone
  double gradient_bytes = 0;                ///< that replicas exchange in a step
  std::optional<double> bucket_bytes = {};  ///< exchanged at a time; all at once by default
  double overlap = 0;                       ///< share of the exchange that runs beside the backward pass
  double backward_share = 2.0 / 3;          ///< of the step alone: no more can be hidden
  std::vector<int> replicas = {};           ///< to predict
  std::vector<MeasuredStep> steps = {};     ///< with a fixed batch per replica, to be held against the prediction
};

struct PredictedStep {
  int replicas = 1;
  double all_reduce = 0;                          ///< seconds, of all buckets
  double hidden = 0;                              ///< of that, in weak scaling
  double weak_step = 0, weak_efficiency = 1;      ///< the batch grows with the replicas: T_1 / T_n
  double strong_step = 0, strong_efficiency = 1;  ///< the same batch divided: T_1 / (n T_n)
  std::optional<double> measured_step = {};       ///< weak
};

/// `seconds` is the prediction: for replicas that the model is made of, from the other sizes only.
struct PredictedAllReduce {
  MeasuredAllReduce measured;
  double seconds = 0;
};

/// Relative error of a prediction: 0.1 is 10 % too long.
inline double prediction_error(double predicted, double measured) {
  return predicted / measured - 1;
}

class ScalingModel {
 public:
  /// Throws Error where the inputs do not suffice or are out of range, naming them.
  explicit ScalingModel(ScalingInputs inputs);

  /// Of `replicas` of the inputs and those that were measured, ascending.
  std::vector<PredictedStep> steps() const;
  std::vector<PredictedAllReduce> all_reduces() const;
  /// Made of the rows of so many replicas each; ascending.
  const std::vector<AllReduceCurve>& curves() const { return curves_; }
  /// What the figures rest on, a sentence each.
  std::vector<std::string> assumptions() const;

 private:
  double all_reduce(double bytes, int replicas) const;
  const AllReduceCurve& curve_for(int replicas) const;
  PredictedStep step(int replicas) const;

  ScalingInputs inputs_;
  std::vector<AllReduceCurve> curves_;
};

}  // namespace gpubench
