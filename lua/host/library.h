// `require` for scripts: the Lua library of the program ("gpubench", "gpubench.chart", ...), then the script's own
// folder and those in $GPUBENCH_PATH.
#pragma once
#include <filesystem>
#include <vector>

struct lua_State;

namespace gpubench::lua {

/// Replaces package.searchers. Loads source text only, no shared libraries; `keep_others` keeps the other searchers
/// after these.
void open_library(lua_State* L, const std::filesystem::path& library, const std::vector<std::filesystem::path>& folders,
                  bool keep_others);

/// The colon-separated folders of $GPUBENCH_PATH.
std::vector<std::filesystem::path> module_folders_of_user();

}  // namespace gpubench::lua
