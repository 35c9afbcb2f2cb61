// Sections of pages about sides: their experiments' own charts, and links to their runs.
#pragma once
#include <filesystem>
#include <span>
#include <vector>

#include "core/compare/side.h"
#include "core/report/page/page_sections.h"

namespace gpubench {

/// For each experiment its own charts, with the sides as series.
std::vector<PageSection> experiment_sections(std::span<const Side> sides);

/// Links are relative to `folder`.
PageSection runs_section(std::span<const Side> sides, const std::filesystem::path& folder);

}  // namespace gpubench
