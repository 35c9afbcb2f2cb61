#include "lua/api/output_path.h"

#include <algorithm>
#include <fmt/format.h>
#include <lua.hpp>

#include "core/base/error.h"

namespace gpubench::lua {
namespace {

namespace fs = std::filesystem;

constexpr const char* folder_key = "gpubench.output_folder";

// Without symbolic links, "." and "..", whether or not the file exists yet.
fs::path resolve(const fs::path& path) {
  fs::path resolved = fs::weakly_canonical(fs::absolute(path));
  return resolved.has_filename() ? resolved : resolved.parent_path();
}

}  // namespace

void confine_output(lua_State* L, const fs::path& folder) {
  const std::string resolved = resolve(folder).string();
  lua_pushlstring(L, resolved.data(), resolved.size());
  lua_setfield(L, LUA_REGISTRYINDEX, folder_key);
}

std::string output_path(lua_State* L, const std::string& path, std::string_view operation) {
  lua_getfield(L, LUA_REGISTRYINDEX, folder_key);
  const char* text = lua_tostring(L, -1);
  const fs::path folder = text ? text : "";
  lua_pop(L, 1);
  if (folder.empty()) return path;
  const fs::path resolved = resolve(path);
  const auto [rest, ignored] = std::ranges::mismatch(folder, resolved);
  if (rest == folder.end()) return path;
  throw Error(
      fmt::format("{}: '{}' is not below the output folder '{}' (choose another with --out, or run with --trusted)",
                  operation, path, folder.string()));
}

}  // namespace gpubench::lua
