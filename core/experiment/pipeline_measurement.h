// How fast a dataset gives elements to a consumer that does nothing with them, and what its stages do meanwhile.
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
};

struct PipelineMeasurement {
  /// elements_per_s, bytes_per_s and their intervals, element_time_s, first_element_s, cpu_share, epochs, quality,
  /// stop_reason.
  Record record;
  std::vector<double> samples;  ///< seconds an element, in order; each of a window of some milliseconds
  /// Sources first, as Cursor::statistics(), summed over all epochs since measuring began, in `measured`.
  std::vector<StageStatistics> stages;
  ThreadTimes consumer;  ///< of the thread that took the elements, and did nothing else
  Seconds measured{};
};

/// Goes through epoch after epoch; opening them is part of it. Throws Error when an epoch is empty.
PipelineMeasurement measure_pipeline(const Dataset& dataset, const PipelineLimits& limits);

}  // namespace gpubench
