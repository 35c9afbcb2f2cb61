// What the copies of a trace are for, by their paths, sizes and streams.
#pragma once
#include "core/results/record.h"
#include "core/traces/analysis.h"

namespace gpubench {

/// Sets copy_cause and copy_cause_kind, by the path whose copies take most time; nothing where nothing is copied.
void set_copy_cause(Record& row, const TraceAnalysis& analysis);

}  // namespace gpubench
