// How a loop over a dataset opens it: as a pipeline of its own, with a tuner for the stages that were left to AUTOTUNE,
// and statistics that outlive the epoch.
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// An epoch of `dataset`, within the budgets of its options() stages.
std::unique_ptr<Cursor> open_pipeline(const Dataset& dataset, std::uint64_t epoch = 0, CursorOptions options = {});

}  // namespace gpubench
