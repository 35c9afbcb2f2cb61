// The order of a history's runs where runs come in between: the order that was appended always holds, and what comes
// from elsewhere is put where its time says.
#pragma once
#include <cstdint>
#include <vector>

#include "core/history/history.h"

namespace gpubench {

/// The id of the run that was added last; 0: there is none.
std::int64_t last_run_id(const Database& database);

/// Numbers all runs anew. `lasts`, growing ids, cut them into lists: the runs with ids up to lasts[0], those up to
/// lasts[1], ... and the rest. Each list keeps its order, and they are joined one after the other by what clocks said.
void put_in_one_order(const RunHistory& history, const std::vector<std::int64_t>& lasts);

}  // namespace gpubench
