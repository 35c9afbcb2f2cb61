// Tests whether a training waits for its input by removing the input: it measures the step with the whole pipeline,
// with batches ready in host memory, and with batches that stay on the device (DS-Analyzer, VLDB 2021).
#pragma once
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/experiment/training/training.h"

namespace gpubench {

/// Takes elements from `cursor` until it ends, `most` are taken or their size reaches `most_bytes`; at least one.
/// Throws Error if there is none.
std::vector<Element> kept_elements(Cursor& cursor, std::size_t most, std::size_t most_bytes);

/// A dataset that repeats `elements` without copies: what a training gets if its pipeline costs nothing. Its epoch
/// never ends, because opening an epoch is a cost of pipelines.
DatasetPtr repeated_elements(std::vector<Element> elements, std::vector<TensorType> types);

struct InputProof {
  /// The row of the training with its pipeline, over both of its measurements, with cached_step_time_s,
  /// resident_step_time_s, input_ratio and its interval, and input_cause. core/diagnose judges it.
  Record record;
  std::vector<double> samples;  ///< step times with the whole pipeline
};

/// Measures each variant twice, in the order a b c c b a, so that a drift of the machine affects all equally. Throws as
/// measure_training does.
InputProof prove_input(Trainer& trainer, const Dataset& dataset, const TrainingOptions& options);

}  // namespace gpubench
