// Reads runs back: one run's table and facts, or the list of all runs. Types come from run.json where it has them, else
// from how the text looks, so a run whose program died can be read too.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/results/column.h"
#include "core/results/info.h"
#include "core/results/record.h"

namespace gpubench {

struct Run {
  std::filesystem::path directory;
  std::vector<Column> columns;
  std::vector<Record> records;
  Info info;
};

/// The status that run.json has, but "died" where it says "running" and no process of this machine writes the run.
std::string run_status(const Info& info, const std::filesystem::path& directory);

/// The status is run_status(). A last row that a program which died has not written to its end is left out. Throws
/// Error for a missing or malformed results.csv or run.json, with its line.
Run read_run(const std::filesystem::path& directory);

struct RunSummary {
  std::filesystem::path directory;
  std::string experiment;
  std::string name;
  std::string title;
  /// "2026-11-21T04:17:00Z".
  std::string started;
  /// done, running, died, interrupted, error; "unreadable" when run.json is.
  std::string status;
  std::size_t rows = 0;
};

/// All runs below `<out>/results`, by experiment, newest first.
std::vector<RunSummary> list_runs(const std::filesystem::path& out);

/// A run named by its directory, its results.csv, its name, or its experiment or a directory of runs (then the newest).
/// Throws Error that says what there is.
std::filesystem::path find_run(const std::string& text, const std::filesystem::path& out);

}  // namespace gpubench
