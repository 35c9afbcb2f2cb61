// A chart for readers who do not see it: its figures as a table, in a sentence what it shows, and what it leaves out.
#pragma once
#include <cstddef>
#include <string>

#include "core/report/chart/chart.h"
#include "core/report/text/table.h"

namespace gpubench {

/// x, series (where there are some), figure, 95 % interval, and why a point failed or is unreliable; `most` rows at
/// most.
Table chart_table(const Chart& chart, std::size_t most);
/// Rows of the table without a limit.
std::size_t figure_count(const Chart& chart);
/// "step time by batch size. Lines: step time (ms) from 0.5 to 12 by batch size, for cpu:0 and gpu:0."
std::string describe(const Chart& chart);
/// "2 points have no latency p99: time that 99 % of the queries do not exceed; empty for fewer than 100."; empty if all
/// measured points of its series have their figure.
std::string left_out_text(const Chart& chart);

}  // namespace gpubench
