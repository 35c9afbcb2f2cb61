// Writes a timeline for chrome://tracing and Perfetto, in the Trace Event Format of the Chromium project: "complete"
// events with times in microseconds.
#pragma once
#include <filesystem>

#include "core/trace/timeline.h"

namespace gpubench {

/// One row per lane, in the order of their first spans, and one of the steps; time 0 is the beginning of the first span
/// or step. The arguments of an event, the steps and the list `devices` have all that breakdown and profile need.
/// Throws Error if the file cannot be written.
void write_chrome_trace(const Timeline& timeline, const std::filesystem::path& file);

}  // namespace gpubench
