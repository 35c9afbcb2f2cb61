// Work on a whole history: rebuilding it from runs, copying it, forgetting old runs, and writing everything as CSV.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/history/history.h"

namespace gpubench {

struct Rebuilt {
  std::size_t stored = 0;  ///< runs whose values were read from their folders
  std::size_t kept = 0;    ///< runs whose folders are gone
  std::vector<RunValues> second_looks = {};
  /// "<folder>: why": runs that could not be read, and those that still go on.
  std::vector<std::string> left_out;
};

/// Reads all runs below `<out>/results` again, in one transaction. Runs that were in the history keep their order and
/// what was reported of them; others take the place that their time gives them.
Rebuilt rebuild(RunHistory& history, const std::filesystem::path& out);

/// Writes a copy that is consistent also while others write here. Throws Error where the file is no history, or where a
/// history without runs would replace one that has some.
void back_up(const RunHistory& history, const std::filesystem::path& file);

/// Forgets each host's runs before the first that is at most so many days old. A run that a jump of the clock dated
/// wrongly goes with its neighbours. Returns the number of runs. What was reported stays.
std::size_t prune(RunHistory& history, int days, std::chrono::system_clock::time_point now);

/// A line for each value, in the order of series and runs, given to `write` in parts. `experiment`: only its own; all
/// if empty. `takes`: only series for which it is true; all without it.
void export_csv(const RunHistory& history, const std::string& experiment,
                const std::function<void(std::string_view)>& write,
                const std::function<bool(const HistorySeries&)>& takes = {});

}  // namespace gpubench
