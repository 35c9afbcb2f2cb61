// What this program was built from, so that a result can be traced to its source.
#pragma once
#include "core/results/info.h"

namespace gpubench {

/// version, commit ("+changes" behind it for an edited checkout; absent outside one), compiler, build (its type and the
/// instruction set).
Info build_info();

}  // namespace gpubench
