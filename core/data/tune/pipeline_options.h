// What a whole pipeline may use, as a stage that changes nothing else. Where several stand in a pipeline, the setting
// nearest to its end counts.
//
//   options(batches, {.threads = 8, .ram_budget = 1 << 30})
#pragma once
#include <optional>

#include "core/data/dataset.h"

namespace gpubench {

/// Absent settings are left to the machine: its cores, half of its free memory, no limit on threads that wait.
struct PipelineOptions {
  std::optional<std::int64_t> threads{};     ///< most workers that AUTOTUNE gives all stages together
  std::optional<std::int64_t> ram_budget{};  ///< bytes that buffers under AUTOTUNE may take
  std::optional<double> cpu_budget{};        ///< cores that AUTOTUNE counts on
  std::optional<bool> deterministic{};       ///< order of parallel stages that were not told
};

/// Throws Error when a budget is not positive.
DatasetPtr options(DatasetPtr source, const PipelineOptions& options);
/// Of all options() stages in front of the dataset's end.
PipelineOptions options_of(const Dataset& dataset);

}  // namespace gpubench
