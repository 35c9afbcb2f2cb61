// Opens traces of other profilers, whatever format they have: what a file is, its content says, not its name.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/traces/foreign_trace.h"

namespace gpubench {

struct OpenedTraces {
  std::vector<ForeignTrace> ranks;
  std::vector<std::string> notes;  ///< files that were left out, and why
};

/// Whether the file, or a file in the folder, begins as a trace does; also of formats that are named and not read.
bool is_trace(const std::filesystem::path& place);
/// `places`: files, and folders of the files of several ranks. Throws Error where nothing can be read, with the command
/// that converts the file where there is one.
OpenedTraces open_traces(const std::vector<std::filesystem::path>& places);

}  // namespace gpubench
