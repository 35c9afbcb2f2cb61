// Whether a trace is complete enough to be judged. What is checked here comes before any verdict: an incomplete trace
// of a busy device looks like one of an idle device.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/traces/foreign_trace.h"
#include "core/traces/idle.h"
#include "core/traces/steps.h"

namespace gpubench {

enum class QualityCheck : std::uint8_t {
  damaged,           ///< a part of the file cannot be read
  no_work,           ///< there are no events of work
  no_device_events,  ///< launches, and no work of a device
  too_little,
  capture,  ///< a graph is captured, no workload
  start_up,
  partial_replays,  ///< replays of graphs of which a part was recorded
  device_wait,
  cropped,      ///< work that was launched before the trace began
  no_launches,  ///< work without a launch
  one_event,    ///< one event that takes most of the time, and was left out
  steps_without_work,
  profiler_cost,
  short_window,
  no_steps,
  ambiguous_steps,  ///< two marks of steps give different lengths
  moved_events,
  other_events,  ///< duplicates, and events without a time
};

struct QualityIssue {
  QualityCheck check;
  bool blocks = false;     ///< no verdict can be given
  double unknown = 0;      ///< share of the window of which nothing can be said
  std::string found;       ///< "70 launches of graphs, of which 61 have less than half of their kernels"
  std::string to_do = {};  ///< what would make the trace tell it; empty
};

/// Removes single events that take most of the trace, as a collective that waits for a profiler that starts later does.
/// Returns what was removed. Call it before steps are found.
std::vector<QualityIssue> leave_out_single_events(ForeignTrace& trace);

/// `idle`: of each device within the window. In the order of QualityCheck.
std::vector<QualityIssue> check_quality(const ForeignTrace& trace, const TraceSteps& steps, TraceInterval window,
                                        const std::vector<std::vector<IdlePart>>& idle);

}  // namespace gpubench
