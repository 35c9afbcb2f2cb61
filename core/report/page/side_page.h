// The page of one side alone: what its processes have measured, how far that can be trusted, and its trend.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "core/compare/side.h"
#include "core/history/trend.h"

namespace gpubench {

/// `trends`: by experiment, of those that a history knows. Links to runs are relative to
/// `folder`, in which the page will lie.
std::string side_page(const Side& side, const std::map<std::string, Trend>& trends,
                      const std::filesystem::path& folder);

/// The experiments that the side has measured, in their order.
std::vector<std::string> experiments_of(const Side& side);

}  // namespace gpubench
