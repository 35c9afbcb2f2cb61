// The changes of one row: which figures are compared, and what makes comparing them invalid.
#pragma once
#include <vector>

#include "core/compare/comparison.h"

namespace gpubench {

/// The columns of a row that are figures: no settings, no axes, no ends of intervals, and numbers somewhere.
std::vector<Column> figures_of_row(const MatchedRow& row);

/// Of these, the ones to compare: those that the options name, or the experiment's claims and charts are about.
std::vector<Column> chosen_figures(const MatchedRow& row, const ComparisonOptions& options);
using Processes = std::vector<RowOfProcess>;
/// The figures of all processes that have some.
std::vector<ProcessFigures> figures_in(const Processes& processes, const std::string& name);

/// Measured and not yet judged, since false discovery rates are those of the whole report. The baseline has the row.
ComparedRow compare_row(const MatchedRow& row, std::size_t side, const ComparisonOptions& options);

/// After judging: what was called different becomes invalid where its figures cannot be relied on, or a clock explains
/// it.
void doubt_called(const MatchedRow& row, ComparedRow& compared);

}  // namespace gpubench
