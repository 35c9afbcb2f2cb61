// Files that belong to the program: its Lua library, the report's templates, the sample data. An installed prefix has
// them under the same paths as the repository. They are searched for from the program's location, so that a source tree
// or a prefix can be moved.
#pragma once

#include <filesystem>
#include <string_view>

namespace gpubench {

/// The folder that holds "lua/gpubench/init.lua": the nearest folder above the running program that has it, directly or
/// below share/gpubench; else the source tree of the build. Throws Error if none has it.
const std::filesystem::path& resource_root();

/// The file or folder at a repository path such as "plots/style.gp". Throws Error if it does not exist.
std::filesystem::path resource(std::string_view path);

/// The search of resource_root() from a given program; an empty path if nothing is found.
std::filesystem::path find_resource_root(const std::filesystem::path& program);

}  // namespace gpubench
