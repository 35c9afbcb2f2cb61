// Joins the histories of several machines. Each file is added in a transaction of its own, so that others may write
// between two of them, and one that cannot be read keeps no other out.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/history/history.h"

namespace gpubench {

struct MergedFile {
  std::size_t added = 0;   ///< runs that were not here
  std::string fault = {};  ///< why nothing was added; empty where all is well
};

/// Adds the runs and reported changes of other machines' histories, and closes here what is closed there. The runs of
/// each keep their order among themselves; runs that were pruned here come back if they are there. Throws
/// HistoryUnavailable if this history cannot be written now.
std::vector<MergedFile> merge(RunHistory& history, const std::vector<std::filesystem::path>& others);

}  // namespace gpubench
