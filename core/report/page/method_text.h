// How a side was measured, in sentences for a paper. Only what its runs have recorded is said.
#pragma once
#include <span>
#include <string>

#include "core/compare/match.h"
#include "core/results/column.h"

namespace gpubench {

/// Program, machine, devices, statistic, intervals, budget, data and date as one line of plain text. `rows`: all rows
/// of the side; `figures`: the columns that are shown.
std::string method_text(const Side& side, std::span<const MatchedRow> rows, std::span<const Column> figures);

}  // namespace gpubench
