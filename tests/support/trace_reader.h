// Reads a trace of gpubench (core/results/trace.h) back.
#pragma once
#include <filesystem>
#include <memory>

#include "core/trace/timeline.h"

namespace gpubench::support {

/// With the steps. Throws Error for an unknown class of spans.
std::unique_ptr<Timeline> read_trace(const std::filesystem::path& file);

}  // namespace gpubench::support
