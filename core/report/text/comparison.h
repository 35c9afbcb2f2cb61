// Renders a comparison: text that fits the window, Markdown of five lines for a pull request, JSON, CSV, and JUnit's
// XML for servers that watch builds. All show the verdicts that core/compare has made.
#pragma once
#include <string>
#include <string_view>

#include "core/compare/comparison.h"
#include "core/report/text/render.h"

namespace gpubench {

std::string render_comparison(const Comparison& comparison, Format format, const TextStyle& style = {});

// Shared by the formats.

/// "SLOWER in 1 of 12 comparisons: takes 4.1 % more time (step time, batch_size device=cpu:0)".
std::string headline_of(const Comparison& comparison);
/// "1 SLOWER, 10 SAME, 1 AMBIGUOUS".
std::string counts_of(const Comparison& comparison);
/// "geometric mean of 11 rows: step time: takes 0.4 % more time".
std::string mean_text(const Comparison& comparison, const GeometricMean& mean);
/// How far the verdicts can be trusted: processes, false alarms to expect, the change that is seen.
std::string trust_text(const Comparison& comparison);
/// "input wait: 1.2 ms of the 1.3 ms that a step takes longer (row)", of the side's worst row that
/// was traced; empty if there is none.
std::string where_time_went(const Comparison& comparison, std::size_t side);
/// What settles ambiguous ones: command and time; empty if there is nothing to settle.
std::string next_step_text(const Comparison& comparison);
/// "batch_size device=cpu:0 batch_size=32".
std::string row_text(const ComparedRow& row);
std::string text_of_comparison(const Comparison& comparison, const TextStyle& style);

}  // namespace gpubench
