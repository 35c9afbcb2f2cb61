// The changes of a comparison as lines of a table, for terminals and pages.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "core/compare/comparison.h"
#include "core/report/text/table.h"

namespace gpubench {

struct PlacedChange {
  const ComparedRow* row;
  const Change* change;
};

std::vector<PlacedChange> all_changes(const Comparison& comparison);
/// The loudest first.
std::vector<PlacedChange> changes_of_side(const Comparison& comparison, std::size_t side);

/// "SLOWER".
std::string verdict_of(const PlacedChange& one);

/// The columns of change_table(); those that a narrow window drops stand last.
inline constexpr std::size_t change_columns = 9;
/// The first `columns` of them. Names of rows are `row_width` wide at most; 0: any width.
Table change_table(const std::vector<PlacedChange>& changes, std::size_t columns = change_columns,
                   std::size_t row_width = 0);

/// "INVALID: units differ (3 comparisons)": once for all changes with the same reason.
std::vector<std::string> reasons_of(const std::vector<PlacedChange>& changes);

}  // namespace gpubench
