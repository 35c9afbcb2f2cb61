// A heat map as commands of gnuplot: its cells are rectangles in shades of one colour, which a light page and a dark
// one take alike, with the figure written in each.
#pragma once
#include <cstddef>
#include <string>

#include "core/report/chart/chart.h"

namespace gpubench {

/// Rows of cells: one for each series, also for those without any figure.
std::size_t heat_rows(const Chart& chart);
/// Everything but the title and the terminal.
std::string heat_commands(const Chart& chart);
/// The plot command.
std::string heat_plot(const Chart& chart);

}  // namespace gpubench
