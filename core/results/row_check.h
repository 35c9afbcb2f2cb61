// What a row that a script returns may hold, and which of its figures are none. Rows are checked once, when they are
// added: whatever reads the standard columns afterwards (rounds, claims, findings) relies on the types of their cells.
// All other columns are the script's, and may hold any cell.
#pragma once
#include <string>
#include <string_view>

#include "core/results/cell.h"
#include "core/results/record.h"

namespace gpubench {

/// Throws Error for a cell that a standard column, or an end of its interval, does not take; `giver`: who gave it, "run
/// returned". Texts take strings, and all other standard columns numbers. Every column takes an empty cell.
void check_cell(std::string_view column, const Cell& cell, std::string_view giver);

/// Throws Error for a row that has too many columns, a column that files cannot have or that the program fills in, an
/// unknown status, or a cell that its column does not take.
void check_returned_row(const Record& row);

/// Whether the cell is NaN or infinite, as figures of a training that diverged are.
bool is_not_number(const Cell& cell);
/// Of all columns by name, "accuracy is NaN, loss is infinite"; empty where there is none.
std::string not_numbers_in(const Record& row);
/// Says it in the row's detail, once.
void note_not_numbers(Record& row);

}  // namespace gpubench
