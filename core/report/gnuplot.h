// Charts drawn by the program gnuplot. The script of each chart is stored beside the picture, contains the chart's
// data, and needs only the shared style.
#pragma once
#include <filesystem>
#include <string>

#include "core/report/chart.h"

namespace gpubench {

/// The script loads the style from two folders up and writes "<name>.svg" into its own folder (gnuplot_script.cpp).
std::string gnuplot_script(const Chart& chart);

bool gnuplot_is_installed();
/// Runs gnuplot on a script inside its folder; blocks. Throws Error with gnuplot's message.
void run_gnuplot(const std::filesystem::path& script);

}  // namespace gpubench
