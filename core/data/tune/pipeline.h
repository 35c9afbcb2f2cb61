// How a loop over a dataset opens it: as a pipeline of its own, with a tuner for the stages that were left to AUTOTUNE,
// and statistics that outlive the epoch. What the whole pipeline may use is said by options(), a stage that changes
// nothing else; where several stand in a pipeline, the setting nearest to its end counts.
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
  std::optional<bool> deterministic{};       ///< order of parallel stages without a setting
};

/// Throws Error when a budget is not positive.
DatasetPtr options(DatasetPtr source, const PipelineOptions& options);
/// Of all options() stages in front of the dataset's end.
PipelineOptions options_of(const Dataset& dataset);

/// An epoch of `dataset`, within the budgets of its options() stages.
std::unique_ptr<Cursor> open_pipeline(const Dataset& dataset, std::uint64_t epoch = 0, CursorOptions options = {});

}  // namespace gpubench
