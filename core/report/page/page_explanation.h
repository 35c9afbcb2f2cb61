// The part of a report about where the time of each point went: verdicts, the terms of the waterfall as a bar and as
// shares, and what was found at the point at which most is known to be gained, with remedies.
#pragma once
#include <kainjow/mustache.hpp>
#include <vector>

#include "core/report/text/explanation.h"
#include "core/results/run_reader.h"

namespace gpubench {

/// explain_rows(); nothing if no row has steps.
std::vector<ExplainedRow> rows_with_steps(const Run& run);

/// Sets "verdicts" (how many points have each finding as their verdict), "explained", the rows of the table with its
/// "terms", and "findings" with their remedies, of which the first one is "to_do" where no answer is confirmed; nothing
/// without rows.
void set_explanation(kainjow::mustache::data& page, const Run& run, const std::vector<ExplainedRow>& rows);

}  // namespace gpubench
