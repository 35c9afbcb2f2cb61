// Charts drawn by the program gnuplot. The script of each chart is stored beside the picture, and contains the chart's
// data and style. It loads no other file: gnuplot runs the commands in it, and the file may come from somebody else.
#pragma once
#include <filesystem>
#include <string>

#include "core/report/chart/chart.h"
#include "core/report/chart/chart_format.h"

namespace gpubench {

/// Whether 95 % intervals are drawn, and rings around figures that are unreliable.
bool has_intervals(const Chart& chart);
bool has_rings(const Chart& chart);

/// Pixels on a page that the chart takes with its key.
std::size_t chart_height(const Chart& chart);
/// The script writes "<name>.svg" and so on into the folder in which gnuplot runs (gnuplot_script.cpp).
std::string gnuplot_script(const Chart& chart, std::size_t height, const ChartFormats& formats);

/// The formats that the installed gnuplot can write; empty where there is none.
ChartFormats drawable_formats();
/// Runs gnuplot on a script inside `folder`; blocks. Throws Error with gnuplot's message.
void run_gnuplot(const std::filesystem::path& script, const std::filesystem::path& folder);

}  // namespace gpubench
