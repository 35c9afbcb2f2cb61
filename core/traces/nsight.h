// Reads the SQLite export of Nsight Systems (nsys export --type sqlite): docs.nvidia.com/nsight-systems, "SQLite Schema
// Reference". Tables that an export lacks were not recorded; columns differ between versions.
#pragma once
#include <filesystem>

#include "core/traces/foreign_trace.h"

namespace gpubench {

/// Throws Error for a database without Nsight's tables, naming those that it has.
ForeignTrace read_nsight(const std::filesystem::path& file);

}  // namespace gpubench
