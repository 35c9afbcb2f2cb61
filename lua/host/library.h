// `require` for scripts: the Lua library that the program brings ("gpubench", "gpubench.chart", ...), then the script's
// own folder and those in $GPUBENCH_PATH.
#pragma once
#include <filesystem>
#include <vector>

struct lua_State;

namespace gpubench::lua {

/// Replaces package.searchers; source text only, no shared libraries, unless the others are kept behind them.
void open_library(lua_State* L, const std::filesystem::path& library, const std::vector<std::filesystem::path>& folders,
                  bool keep_others);

/// $GPUBENCH_PATH, separated by colons.
std::vector<std::filesystem::path> module_folders_of_user();

}  // namespace gpubench::lua
