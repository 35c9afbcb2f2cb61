// Charts drawn by the program gnuplot. The script of each chart is stored beside the picture, and contains the chart's
// data and style. It loads no other file: gnuplot runs the commands in it, and the file may come from somebody else.
#pragma once
#include <filesystem>
#include <string>

#include "core/report/chart.h"

namespace gpubench {

/// The script writes "<name>.svg" into the folder in which gnuplot runs (gnuplot_script.cpp).
std::string gnuplot_script(const Chart& chart);

bool gnuplot_is_installed();
/// Runs gnuplot on a script inside its folder; blocks. Throws Error with gnuplot's message.
void run_gnuplot(const std::filesystem::path& script);

}  // namespace gpubench
