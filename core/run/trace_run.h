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
  /// Traces of the state before; empty: there are none.
  std::vector<std::filesystem::path> against{};
};

struct TraceRun {
  std::filesystem::path directory;
  bool is_slower = false;  ///< than the traces before
};

/// Writes a run that is named after the first trace. `traces`: files, and folders of the files
/// of several ranks. Throws Error where nothing can be read.
TraceRun write_trace_run(const std::vector<std::filesystem::path>& traces, const TraceRunOptions& options);

}  // namespace gpubench
