// Baselines: results that later ones are compared with, by name. A baseline is a folder with copies of its runs' tables
// and facts, so that it outlives them.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace gpubench {

/// `<out>/baselines/NAME`; it need not exist.
std::filesystem::path baseline_folder(const std::string& name, const std::filesystem::path& out);
bool is_baseline(const std::filesystem::path& folder);
/// Sorted.
std::vector<std::string> baseline_names(const std::filesystem::path& out);

/// Copies the runs; one with this name is replaced as a whole at the end (core/codec/output_folder.h), so that a
/// failure leaves it as it was. Throws Error for a name that is no folder's, for links, and for no runs.
std::filesystem::path save_baseline(const std::string& name, std::span<const std::filesystem::path> runs,
                                    const std::filesystem::path& out);

}  // namespace gpubench
