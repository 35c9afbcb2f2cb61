// The end of a run: charts, facts, report and index. Nothing here can lose a row: what fails to be drawn becomes a note
// in run.json, on the page and in the result.
#pragma once
#include <filesystem>
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

FinishedRun finish_run(RunWriter& writer, const Finish& finish);

/// Writes `<out>/results/index.html` anew; its path.
std::filesystem::path write_index(const std::filesystem::path& out);

}  // namespace gpubench
