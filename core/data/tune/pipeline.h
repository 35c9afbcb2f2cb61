// Opens a dataset as a pipeline, with a tuner for the stages set to AUTOTUNE, and statistics that outlive the epoch.
// The budgets of the whole pipeline come from options(), a stage that changes nothing else; if there are several, the
// one nearest to the pipeline's end counts.
//
//   options(batches, {.threads = 8, .ram_budget = 1 << 30})
#pragma once
#include <optional>

#include "core/data/dataset.h"

namespace gpubench {

/// Absent settings are chosen by the machine: its cores, half of its free memory, no limit on waiting threads.
struct PipelineOptions {
  std::optional<std::int64_t> threads{};     ///< most workers of all AUTOTUNE stages together
  std::optional<std::int64_t> ram_budget{};  ///< most bytes of AUTOTUNE buffers
  std::optional<double> cpu_budget{};        ///< cores that AUTOTUNE plans with
  std::optional<bool> deterministic{};       ///< order of parallel stages without their own setting
};

/// Throws Error if a budget is not positive.
DatasetPtr options(DatasetPtr source, const PipelineOptions& options);
/// The combined settings of all options() stages of the dataset.
PipelineOptions options_of(const Dataset& dataset);

/// An epoch of `dataset`, within the budgets of its options() stages.
std::unique_ptr<Cursor> open_pipeline(const Dataset& dataset, std::uint64_t epoch = 0, CursorOptions options = {});

}  // namespace gpubench
