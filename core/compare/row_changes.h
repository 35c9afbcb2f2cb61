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

/// Measured and not yet judged. The baseline has the row.
ComparedRow compare_row(const MatchedRow& row, std::size_t side, const ComparisonOptions& options);

/// What the sides are: builds that were compared on one machine, or machines and times.
enum class SideKind { builds, machines };

/// After judging: what was called different becomes invalid where its figures cannot be relied on. Where a clock
/// explains it, it is invalid between builds, and has a cause between machines and times: a clock that fell is a fault
/// there.
void doubt_called(const MatchedRow& row, SideKind sides, ComparedRow& compared);

}  // namespace gpubench
