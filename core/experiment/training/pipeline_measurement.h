// Measures how fast a dataset delivers elements to a consumer that ignores them, and what its stages do meanwhile.
#pragma once
#include <vector>

#include "core/data/dataset.h"
#include "core/measure/stopping_rule.h"
#include "core/measure/warmup.h"
#include "core/results/record.h"

namespace gpubench {

struct PipelineLimits {
  StoppingLimits stopping;
  WarmupLimits warmup;
  Scatter scatter = Scatter::judged;
};

struct PipelineMeasurement {
  /// elements_per_s, bytes_per_s and their intervals, element_time_s, first_element_s, cpu_share, epochs, quality,
  /// stop_reason.
  Record record;
  std::vector<double> samples;  ///< seconds per element, in order; each is the mean of a window of some milliseconds
  /// Sources first, as in Cursor::statistics(), summed over all epochs of the measurement, which took `measured`.
  std::vector<StageStatistics> stages;
  ThreadTimes consumer;  ///< times of the consuming thread
  Seconds measured{};
};

/// Runs epoch after epoch; opening epochs counts. Throws Error if an epoch is empty.
PipelineMeasurement measure_pipeline(const Dataset& dataset, const PipelineLimits& limits);

}  // namespace gpubench
