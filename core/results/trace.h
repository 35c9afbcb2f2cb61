// A timeline as a file that chrome://tracing and Perfetto open: the Trace Event Format of the Chromium project,
// "complete" events with times in microseconds.
#pragma once
#include <filesystem>

#include "core/telemetry/timeline.h"

namespace gpubench {

/// A row for each lane, in the order of their first spans; time 0 is the first span's beginning. Throws Error when the
/// file cannot be written.
void write_chrome_trace(const Timeline& timeline, const std::filesystem::path& file);

}  // namespace gpubench
