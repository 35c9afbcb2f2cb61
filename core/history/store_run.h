// Writes one run into the tables of a history: its figures go on with the series that are there, also where a card is
// in another slot now, or an older program had other keys.
#pragma once
#include <cstdint>

#include "core/history/run_values.h"
#include "core/history/sqlite.h"

namespace gpubench {

/// Adds a run without a transaction of its own, at the place `sequence`. Of a run that is there it replaces all but the
/// place.
void store_run(const Database& database, RunValues run, std::int64_t sequence);
std::int64_t last_sequence(const Database& database);
/// Throws Error if the run still goes on.
RunValues finished_values(const Run& run);

}  // namespace gpubench
