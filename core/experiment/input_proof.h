// Whether a training waits for its input, proven by taking the input away: the step with the whole pipeline, with
// batches that lie ready in host memory, and with batches that stay on the device (DS-Analyzer, VLDB 2021).
#pragma once
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/experiment/training.h"

namespace gpubench {

/// Takes elements from `cursor` until it ends, `most` are taken or they have `most_bytes`; at least one. Throws Error
/// when there is none.
std::vector<Element> kept_elements(Cursor& cursor, std::size_t most, std::size_t most_bytes);

/// A dataset that gives `elements` again and again, without a copy: what a training gets when its pipeline costs
/// nothing. Its epoch never ends, because opening an epoch is a cost of pipelines.
DatasetPtr repeated_elements(std::vector<Element> elements, std::vector<TensorType> types);

/// What was measured of a step and its input. Times are means, because a few slow steps may pay for the input of all.
struct InputTimes {
  double full_s = 0, cached_s = 0, resident_s = 0;  ///< with the whole pipeline, with ready batches, without any input
  Estimate ratio;                                   ///< full / resident, with its interval
  double wait_share = 0;   ///< of the step with the whole pipeline: it waits for the next batch
  bool transfers = false;  ///< whether batches are copied to a device with a memory of its own
  /// Why the times do not show what the input costs; empty when they do.
  std::string doubt{};
};

/// "highly input bound: ..." in words, with the figures that say so. Where ratio and waiting contradict each other, or
/// there is a doubt, it says that the question stays open, and why. `pipeline`: the reason why the pipeline is slow.
std::string judge_input(const InputTimes& times, const std::string& pipeline);

struct InputProof {
  /// The row of the training with its pipeline, of both times that it was measured, with cached_step_time_s,
  /// resident_step_time_s, input_ratio and its interval, and the verdict.
  Record record;
  std::vector<double> samples;  ///< step times with the whole pipeline
};

/// Each way is measured twice, in the order a b c c b a, so that a drift of the machine affects all alike. Throws what
/// measure_training throws.
InputProof prove_input(Trainer& trainer, const Dataset& dataset, const TrainingOptions& options);

}  // namespace gpubench
