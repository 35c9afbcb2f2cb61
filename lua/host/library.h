// `require` for scripts: the Lua library of the program ("gpubench", "gpubench.chart", ...), then the script's own
// folder and those in $GPUBENCH_PATH.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

struct lua_State;

namespace gpubench::lua {

struct LibraryOptions {
  /// Where modules of others are, in this order.
  std::vector<std::filesystem::path> folders = {};
  /// Keep Lua's own searchers after these.
  bool keep_others = false;
  /// The only command of the library that can be loaded; without it, all of them.
  std::optional<std::string> only_command = {};
};

/// Replaces package.searchers. Loads source text only, no shared libraries.
void open_library(lua_State* L, const std::filesystem::path& library, const LibraryOptions& options);

/// The colon-separated folders of $GPUBENCH_PATH.
std::vector<std::filesystem::path> module_folders_of_user();

}  // namespace gpubench::lua
