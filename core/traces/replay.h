// A trace replayed without one cause: the host's events keep their order and lose the time of the cause, and the device
// starts each work when its stream is free and its launch has come. It shows what the step would wait for next, which
// the bound of a class alone does not.
#pragma once
#include <string>

#include "core/traces/analysis.h"

namespace gpubench {

struct Replay {
  double step_s = 0;  ///< of the replayed trace
  Record row;         ///< of it, as row_of() makes it
};

/// Without the host's events of this kind, on all threads that launch: they take no time. Waits for the device last as
/// long as the device still works. Nothing changes in a trace without launches.
Replay replay_without(const TraceAnalysis& analysis, HostWork work);

}  // namespace gpubench
