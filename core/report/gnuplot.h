// Runs gnuplot, as a program of its own, on the scripts that gnuplot_script() makes.
#pragma once
#include <filesystem>

namespace gpubench {

bool gnuplot_is_installed();

/// Runs gnuplot on a script inside its folder; blocks. Throws Error with gnuplot's message.
void run_gnuplot(const std::filesystem::path& script);

}  // namespace gpubench
