// Runs of a small experiment as nights leave them, for tests of the history.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/history/history.h"
#include "core/history/merge.h"
#include "core/results/run_reader.h"

namespace gpubench::support {

/// For a history that another program holds.
inline constexpr int no_patience_ms = 1;

struct Night {
  double step_time_s = 0.01;
  std::string started = "2026-01-01T00:00:00Z";
  std::string suite = "night";
  std::string driver = "580.1";
  std::string uuid = "GPU-1";
  std::string host = "a";
  std::string experiment = "matmul";
  std::string quality = "ok";
};

/// "2026-01-05T02:00:00Z" for day 4.
std::string date_of(int day);

/// A run in memory, with one row on gpu:0. Its name is made of `started` and `host`.
Run run_of(const Night& night, const std::filesystem::path& out = "results");

/// Writes its folder below `<out>/results`, with run.json and results.csv; returns the folder.
std::filesystem::path write_run(const Night& night, const std::filesystem::path& out);

/// A run for each value, on following days.
std::vector<Run> runs_with(const std::vector<double>& values, Night night = {}, int first_day = 0);

/// `count` values near `level`, never twice the same.
std::vector<double> near(double level, int count);

/// One file: the number of runs that were not here. Throws Error where it cannot be added.
std::size_t merge(RunHistory& history, const std::filesystem::path& other);

}  // namespace gpubench::support
