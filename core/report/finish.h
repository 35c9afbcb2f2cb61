// The end of a run: charts, facts, report and index. No failure here can lose a row: a failed chart becomes a note in
// run.json, on the page and in the result.
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
  /// The written files, in the order in which readers want them.
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> notes;
};

FinishedRun finish_run(RunWriter& writer, const Finish& finish);

/// Rewrites `<out>/results/index.html` and returns its path.
std::filesystem::path write_index(const std::filesystem::path& out);

}  // namespace gpubench
