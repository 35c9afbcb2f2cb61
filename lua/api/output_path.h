// Where a script may write: only below the output folders, unless it is trusted. Every function that scripts reach and
// that writes a file asks here first, and writes to the path that it is given back: links were followed to know it.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

struct lua_State;

namespace gpubench::lua {

/// From now on output_path() refuses what is not below one of `folders`.
void confine_output(lua_State* L, const std::vector<std::filesystem::path>& folders);

/// The path to write to, when the script may: without symbolic links once scripts are confined. Throws Error, whose
/// text starts with `operation`. Makes the output folder, because scripts cannot.
std::string output_path(lua_State* L, const std::string& path, std::string_view operation);
/// The same for a folder in which files are about to be written: links in it must not lead elsewhere.
std::string output_folder(lua_State* L, const std::string& path, std::string_view operation);

}  // namespace gpubench::lua
