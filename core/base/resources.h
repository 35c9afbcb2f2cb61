// Files that the program brings along: its Lua library, the templates of the report, the sample data. They keep the
// paths they have in the repository, in an installed prefix too, and are found from the program's own place, so that
// both a source tree and a prefix can be moved.
#pragma once

#include <filesystem>
#include <string_view>

namespace gpubench {

/// The folder that holds "lua/gpubench/init.lua": the nearest folder above the running program with it, or with it
/// below share/gpubench; else the sources that the program was built from. Throws Error when none has it.
const std::filesystem::path& resource_root();

/// The file or folder at a path of the repository, as "plots/style.gp". Throws Error when it is not there.
std::filesystem::path resource(std::string_view path);

/// resource_root's search from a given program; an empty path when nothing was found.
std::filesystem::path find_resource_root(const std::filesystem::path& program);

}  // namespace gpubench
