// The end of a run: charts, facts, report and index. No failure here can lose a row: a failed chart becomes a note in
// run.json, on the page and in the result. run.json lists the charts and claims of a run from its start, so that a run
// can be finished without its script and its process.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/report/chart/chart.h"
#include "core/report/chart/chart_format.h"
#include "core/results/run_writer.h"

namespace gpubench {

struct Expectation {
  /// The same in every run of the claim.
  std::string id = {};
  std::string claim = {};
  /// "confirmed", "refuted", "inconclusive", "not measurable here".
  std::string verdict = {};
  std::string reason = {};
  /// What the claim found, as a sentence.
  std::string answer = {};
};

struct Finish {
  /// "done", "interrupted", "error".
  std::string status = "done";
  std::vector<ChartSpec> charts = {};
  std::vector<Expectation> expectations = {};
  /// Of the charts, beside the SVG of the report.
  ChartFormats formats = {};
};

struct FinishedRun {
  std::filesystem::path report;
  std::vector<std::string> notes;
};

/// Writes the charts and the claims of a run, which are not judged yet, into run.json; called at its start.
void announce(RunWriter& writer, const std::vector<ChartSpec>& charts, std::vector<Expectation> claims);

FinishedRun finish_run(RunWriter& writer, const Finish& finish);

/// finish_run() with the announced charts, for a run whose script cannot judge its claims: they stay inconclusive.
FinishedRun finish_unjudged(RunWriter& writer, const std::string& status, const ChartFormats& formats = {});

/// The same for a run of which only the files are left; its status becomes "died". Also writes the report of a run that
/// ended without one. If there is a report already, draws the charts again in `formats`, or returns nullopt without
/// changes if these are empty. Throws Error if a process still writes the run, and for files that cannot be read or
/// written.
std::optional<FinishedRun> finish_stored(const std::filesystem::path& directory, const ChartFormats& formats = {});

/// Rewrites `<out>/results/index.html` and returns its path.
std::filesystem::path write_index(const std::filesystem::path& out);

}  // namespace gpubench
