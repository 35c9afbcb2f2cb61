// Figures that are no numbers, as those of a training that diverged: a row with one is no measurement of it.
#pragma once
#include <string>

#include "core/results/record.h"

namespace gpubench {

/// Whether the cell is NaN or infinite.
bool is_not_number(const Cell& cell);
/// Of all columns by name, "accuracy is NaN, loss is infinite"; empty where there is none.
std::string not_numbers_in(const Record& row);
/// Says it in the row's detail, once.
void note_not_numbers(Record& row);

}  // namespace gpubench
