// Where a script may write: only below the output folder, unless it is trusted. Every bound function that writes a file
// asks here first, as io.open does.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

struct lua_State;

namespace gpubench::lua {

/// From now on output_path() refuses what is not below `folder`.
void confine_output(lua_State* L, const std::filesystem::path& folder);

/// The path, when the script may write there; `operation` starts the message of the Error otherwise.
std::string output_path(lua_State* L, const std::string& path, std::string_view operation);

}  // namespace gpubench::lua
