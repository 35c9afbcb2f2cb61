// A side as LaTeX for a paper: a plain `tabular` for each experiment and a paragraph of how it was measured. It needs
// no package, and stands in no float, so that the paper chooses caption and place.
#pragma once
#include <string>

#include "core/compare/comparison.h"

namespace gpubench {

/// Headings have the units, cells a value and its 95 % interval. Throws Error if nothing was measured, and for a figure
/// that no row has. `options`: which figures; those of the claims and charts unless it says more.
std::string side_latex(const Side& side, const ComparisonOptions& options = {});

}  // namespace gpubench
