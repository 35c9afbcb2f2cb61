// Runs that wait for their history: the file cannot be written now, so a mark in the run's folder says that its rows
// have to be appended later.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/history/history.h"
#include "core/results/info.h"

namespace gpubench {

struct Appended {
  std::size_t appended = 0;
  std::size_t known = 0;  ///< in the history already
  /// "<folder>: why".
  std::vector<std::string> pending;
  /// Folders of those among `pending` that have no mark either: only who still knows them can append them.
  std::vector<std::string> unmarked;
  /// "<folder>: why": they cannot be appended at any time.
  std::vector<std::string> refused;
};

/// Appends the runs below `<out>/results` that wait, then these, in their order, and takes their marks away. Where the
/// history cannot be written now, they get marks, and nothing is thrown.
Appended append_or_wait(const std::filesystem::path& out, const std::vector<std::filesystem::path>& directories,
                        int patience_ms = RunHistory::usual_patience_ms);

/// A run of a night that has ended waits for its history until the night appends it: also where that is killed before.
void mark_for_night(const std::filesystem::path& directory, const Info& info);

/// Folders of runs that wait, oldest first by their names.
std::vector<std::filesystem::path> waiting_runs(const std::filesystem::path& out);

}  // namespace gpubench
