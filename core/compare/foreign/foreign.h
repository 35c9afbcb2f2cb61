// Results of other programs: a table of readers, which know their files by what is in them. What counts as one
// observation is the process; docs/compare.md says for each format what that is.
#pragma once
#include <filesystem>
#include <functional>
#include <vector>

#include "core/compare/measuring_process.h"

namespace gpubench {

/// Whether it is a file that may be one of these: it ends with .csv or .json.
bool is_foreign(const std::filesystem::path& file);

/// Throws Error with the file's name for a file that is empty, cut, or of no known program.
std::vector<MeasuringProcess> read_foreign(const std::filesystem::path& file);

/// Gives `add` the processes of all files of a folder and of the folders below it that end with .csv or .json. A folder
/// of Criterion is one process. Throws Error as read_foreign().
void read_foreign_folder(const std::filesystem::path& folder, const std::function<void(MeasuringProcess)>& add);

}  // namespace gpubench
