// Restricts where scripts may write: only below the output folders, unless the script is trusted. Every function that
// writes a file for a script must call this first and write to the returned path, in which links are resolved.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

struct lua_State;

namespace gpubench::lua {

/// From now on output_path() refuses paths outside of `folders`.
void confine_output(lua_State* L, const std::vector<std::filesystem::path>& folders);

/// The path to write to; without symbolic links once output is confined. Throws Error, starting with `operation`, if
/// the script may not write there. Creates the output folder, because scripts cannot.
std::string output_path(lua_State* L, const std::string& path, std::string_view operation);
/// The same for what is removed or renamed: a path in an output folder, not the folder itself.
std::string path_in_output(lua_State* L, const std::string& path, std::string_view operation);
/// The same for what gets another name: a folder with links in it could put one where a path was checked without it.
std::string path_to_rename(lua_State* L, const std::string& path, std::string_view operation);
/// The same for a folder in which files will be written: links in it must not lead outside.
std::string output_folder(lua_State* L, const std::string& path, std::string_view operation);

}  // namespace gpubench::lua
