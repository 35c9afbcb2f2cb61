// Measures how fast a model trains: the same step loop as fit, over a dataset that restarts when it ends.
#pragma once
#include <optional>
#include <vector>

#include "core/data/dataset.h"
#include "core/experiment/steps/step_measurement.h"
#include "core/train/trainer.h"

namespace gpubench {

/// The highest rates of the devices used, by measurement: the references for mfu and bandwidth_share, which are left
/// out without them.
struct BestRates {
  std::optional<double> flops_per_s;  ///< of large matrix products
  std::optional<double> bytes_per_s;  ///< of large copies on the device, read and written bytes together
};

struct TrainingOptions {
  StepLimits limits;
  /// The first batches stay on the device and all later steps train on them: no input is fetched or copied.
  bool resident = false;
  BestRates best;
  /// Names the measurement in errors.
  std::string_view what = "measure.training";
};

struct TrainingMeasurement {
  Record record;                ///< the standard columns of a training
  std::vector<double> samples;  ///< step times in seconds, in order
  Doubt doubt;                  ///< why the row is unreliable, apart from its interval
  /// Of the traced steps; nullptr without a trace.
  std::shared_ptr<Timeline> timeline;
  /// Of the traced steps, with the plan's memory; only if asked for.
  std::optional<StepProfile> profile{};
  /// By rank, for a model with replicas.
  std::vector<RankTimes> ranks{};
};

/// The types in which a model's layers compute, without duplicates.
std::vector<Dtype> precisions(const Model& model);

/// Sets the columns that every row with a model has: device, execution, precision and replicas.
void describe_model(Record& record, const Model& model, Execution execution);

/// Takes steps through `dataset` (batched), repeatedly. Elements with fewer examples than the first are trained on but
/// do not count as samples. Throws Error if the dataset is empty or has fewer than two steps.
TrainingMeasurement measure_training(Trainer& trainer, const Dataset& dataset, const TrainingOptions& options);

/// Profiles `count` steps (at least 1) after a few others, without a measurement. Throws as measure_training(), and if
/// tracing is impossible.
StepProfile profile_training(Trainer& trainer, const Dataset& dataset, int count, std::string_view what);

/// Sets the columns of the work in a step of a described model: flops_per_step, bytes_per_step, kernels, and
/// device_copies, offloaded_bytes, unaligned_share and own_attention where there are any.
void set_work(Record& record, const PlanFacts& facts);
/// Sets flops_per_s, mfu and bandwidth_share, with their intervals, in a row that has set_work()'s columns.
void set_work_rates(Record& record, const Estimate& mean_step, const BestRates& best);

/// Combines two measurements of the same training. Times and rates are computed from all samples; shares, watts and
/// clocks are means weighted by time, other figures means weighted by steps; memory and temperatures are maxima;
/// warm-ups are added. `first`'s doubt comes before `second`'s.
TrainingMeasurement join_measurements(const TrainingMeasurement& first, const TrainingMeasurement& second,
                                      const TrainingOptions& options);

}  // namespace gpubench
