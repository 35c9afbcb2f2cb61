// One step as a picture shows it: what each stream of a device did, and why it had no work.
#pragma once
#include "core/results/info.h"
#include "core/traces/analysis.h"

namespace gpubench {

/// { step, steps, length_s, lanes = { { name, parts = { { from_s, to_s, class, name } } } } } of the step of median
/// length, or of the whole window without steps: of each stream the class and name that take most of each thousandth of
/// it, and a lane of the moments without work.
Info typical_step(const TraceAnalysis& analysis);

}  // namespace gpubench
