// The page of a comparison: `gpubench report A B`, and `gpubench compare --format html`.
#pragma once
#include <filesystem>
#include <span>
#include <string>

#include "core/compare/comparison.h"
#include "core/compare/side.h"

namespace gpubench {

/// `comparison` is that of these sides. Links to their runs are relative to `folder`, in which the page will lie.
std::string comparison_page(std::span<const Side> sides, const Comparison& comparison,
                            const std::filesystem::path& folder);

}  // namespace gpubench
