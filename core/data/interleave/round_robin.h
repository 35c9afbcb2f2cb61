// The cursor of interleave. Whether it reads its inputs itself or threads do changes nothing about whose turn it is.
#pragma once
#include <memory>
#include <vector>

#include "core/data/interleave/interleave.h"
#include "core/data/interleave/open_inputs.h"

namespace gpubench {

/// Of `dataset`, which tells the elements' types; shares the inputs for as long as it lives.
std::unique_ptr<Cursor> open_interleaved(const Dataset& dataset, Inputs inputs, const InterleaveOptions& settings,
                                         std::uint64_t epoch, const CursorOptions& options);

}  // namespace gpubench
