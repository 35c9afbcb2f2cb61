// Where this program lies, how it is started again, and which programs a bundle carries beside it. A bundle
// (cmake/Bundle.cmake) may start it through a loader of its own, which /proc/self/exe then names; the file that this
// code was mapped from is the program either way, whatever a gpubench above has left in the environment.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

/// What starts this program again: the launcher of the bundle that it belongs to, else its own file.
const std::filesystem::path& program_path();

/// The words that start another program of this bundle, such as "gnuplot"; none if it carries no such program.
std::vector<std::string> carried_program(std::string_view name);

/// The search of program_path() for a program's file.
std::filesystem::path find_launcher(const std::filesystem::path& program);

}  // namespace gpubench
