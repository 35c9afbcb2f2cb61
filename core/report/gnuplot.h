// Charts by gnuplot, a program of its own. The script that draws a chart is kept beside the picture, holds the chart's
// data and the style, and needs no other file: gnuplot runs commands, and a file beside it could be anybody's.
#pragma once
#include <filesystem>
#include <string>

#include "core/report/chart.h"

namespace gpubench {

/// Writes "<name>.svg" into the folder that gnuplot runs in (gnuplot_script.cpp).
std::string gnuplot_script(const Chart& chart);

bool gnuplot_is_installed();
/// Runs gnuplot on a script inside its folder; blocks. Throws Error with gnuplot's message.
void run_gnuplot(const std::filesystem::path& script);

}  // namespace gpubench
