// Reads runs: one run's table and facts, or the list of all runs. Types come from run.json if it has them, else from
// the text of the cells, so that runs of a program that died can be read too.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/input_limits.h"
#include "core/results/column.h"
#include "core/results/info.h"
#include "core/results/record.h"
#include "core/results/run_files.h"

namespace gpubench {

struct Run {
  /// Its folder, or its archive.
  std::filesystem::path directory;
  std::vector<Column> columns;
  std::vector<Record> records;
  Info info;
};

/// By the name of a run's folder. A process on another machine may hold no lock that can be seen here.
bool is_of_this_machine(const std::filesystem::path& directory);

/// The status in run.json, or "died" if that is "running" and no process of this machine writes the run.
std::string run_status(const Info& info, const std::filesystem::path& directory);

/// The status is run_status(). An incomplete last row of a run that died is skipped. Throws Error with the line for a
/// missing or malformed results.csv or run.json.
Run read_run(const RunFiles& files);
/// `place`: a run's folder, or an archive of `gpubench pack`.
Run read_run(const std::filesystem::path& place);

struct RunSummary {
  std::filesystem::path directory;
  std::string experiment;
  std::string name;
  std::string title;
  /// "2026-11-21T04:17:00Z".
  std::string started;
  /// done, running, died, interrupted, error; "unreadable" if run.json or results.csv cannot be read.
  std::string status;
  /// Why it is unreadable.
  std::string damage = {};
  std::size_t rows = 0;
  /// Of run.json: tags, group, machine, devices, program, expectations and answers. Nothing if it cannot be read.
  Info info = {};
};

/// All runs below `<out>/results`, by experiment, newest first. Where run.json of so many runs would take too much
/// memory, the other runs count as unreadable.
std::vector<RunSummary> list_runs(const std::filesystem::path& out);

/// The runs of an experiment that this machine made, newest first and at most `most`. Reads none of their files.
std::vector<std::filesystem::path> runs_of_this_machine(const std::string& experiment, const std::filesystem::path& out,
                                                        std::size_t most);

/// A run named by its directory, its archive, its results.csv, its name, or by its experiment, a directory of runs or
/// one that holds results/ (then the newest). Throws Error listing the existing runs.
std::filesystem::path find_run(const std::string& text, const std::filesystem::path& out);

}  // namespace gpubench
