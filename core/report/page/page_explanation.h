// The part of a report about where the time of each point went: verdicts, and the terms of the waterfall as a bar and
// as shares.
#pragma once
#include <kainjow/mustache.hpp>

#include "core/results/run_reader.h"

namespace gpubench {

/// Sets "verdicts" (how many points have each finding as their verdict) and "explained", the rows of the table with its
/// "terms"; nothing if no row has steps.
void set_explanation(kainjow::mustache::data& page, const Run& run);

}  // namespace gpubench
