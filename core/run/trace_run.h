// A trace of another program as a run: a row for each rank, its profile, and what is known of the file. All that reads
// runs works on it: explain, compare, report, history.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace gpubench {

struct TraceRunOptions {
  std::filesystem::path out = ".";
  /// Ranges whose names begin so are the steps; empty: they are found.
  std::string step{};
};

/// Writes a run that is named after the first trace, and returns its folder. `traces`: files, and folders of the files
/// of several ranks. Throws Error where nothing can be read.
std::filesystem::path write_trace_run(const std::vector<std::filesystem::path>& traces, const TraceRunOptions& options);

}  // namespace gpubench
