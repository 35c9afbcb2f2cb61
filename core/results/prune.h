// Removes old runs. Nothing outside of results/ and plots/ is touched, and links are neither followed nor removed.
#pragma once
#include <cstddef>
#include <filesystem>
#include <vector>

namespace gpubench {

struct PruneOptions {
  /// Of each experiment, the newest so many stay.
  std::size_t keep = 0;
  /// Runs with a tag stay too, whatever their age.
  bool keep_tagged = false;
};

/// The folders of the runs that go, by experiment, newest first. A run that a process still writes, or may write on
/// another machine, stays. Throws Error if `<out>/results` is no folder, or a link.
std::vector<std::filesystem::path> runs_to_prune(const std::filesystem::path& out, const PruneOptions& options);

/// Removes a run of runs_to_prune() with its plots; false if another program has removed it. Throws Error naming what
/// could not be removed.
bool remove_run(const std::filesystem::path& out, const std::filesystem::path& run);

/// Removes what killed programs have left beside the index, the runs and their plots, and in those of this machine.
void remove_left_overs_of_runs(const std::filesystem::path& out);

}  // namespace gpubench
