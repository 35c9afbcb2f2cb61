// The trend of an experiment over the nights, as a page: changes with their causes, and a chart of each figure.
#pragma once
#include <string>
#include <vector>

#include "core/history/trend.h"
#include "core/report/page/page_sections.h"

namespace gpubench {

/// Figures that nobody watches are counted and not shown.
std::string history_page(const std::string& experiment, const Trend& trend);

/// "1 regression is open: flops/s takes 7.2 % more time since 20260301T020000Z-vm (dtype=bfloat16 on gpu:0 of vm)".
std::string trend_headline(const Trend& trend);
/// The sections of that page, for pages that have others too.
std::vector<PageSection> trend_sections(const std::string& experiment, const Trend& trend);

}  // namespace gpubench
