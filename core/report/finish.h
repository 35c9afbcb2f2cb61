// The end of a run: charts, facts, report and index. Nothing here can lose a row: what fails to be drawn becomes a note
// in run.json, on the page and in the result. Which charts and claims a run has is in run.json from its beginning, so
// that its end needs neither its script nor its process.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/report/chart.h"
#include "core/results/run_writer.h"

namespace gpubench {

struct Expectation {
  std::string claim;
  /// "confirmed", "refuted", "inconclusive", "not measurable here".
  std::string verdict;
  std::string reason;
};

struct Finish {
  /// "done", "interrupted", "error".
  std::string status = "done";
  std::vector<ChartSpec> charts = {};
  std::vector<Expectation> expectations = {};
};

struct FinishedRun {
  /// What was written, in the order in which a reader wants it.
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> notes;
};

/// At the run's beginning: writes into run.json what its end will draw and judge.
void announce(RunWriter& writer, const std::vector<ChartSpec>& charts, const std::vector<std::string>& claims);

FinishedRun finish_run(RunWriter& writer, const Finish& finish);

/// finish_run() with what was announced, for a run that is ended while its script cannot judge claims: they stay
/// inconclusive.
FinishedRun finish_unjudged(RunWriter& writer, const std::string& status);

/// The same for a run of which only the files are left, with the status "died". Also draws and reports a run that has
/// ended without a report. Nothing, and nothing is written, where there is a report already. Throws Error where a
/// process still writes the run, and for files that cannot be read or written.
std::optional<FinishedRun> finish_stored(const std::filesystem::path& directory);

/// Writes `<out>/results/index.html` anew; its path.
std::filesystem::path write_index(const std::filesystem::path& out);

}  // namespace gpubench
