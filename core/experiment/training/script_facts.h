// What a script chose for its steps, as columns: from them follows which remedies it has already
// (core/diagnose/no_use).
#pragma once
#include <string>

#include "core/data/dataset.h"
#include "core/passes/pass.h"
#include "core/results/record.h"
#include "core/results/steps_of.h"

namespace gpubench {

/// Sets `pipeline_stages`: the stages, sources first, with the threads of those that have some: "idx; map
/// workers=autotune; batch; prefetch". Nothing where they are too many for a cell.
void set_stages(Record& record, const Dataset& dataset);

void set_steps_of(Record& record, StepsOf steps);
/// Sets `passes_off`: "none", or the names.
void set_passes(Record& record, const PassOptions& passes);

}  // namespace gpubench
