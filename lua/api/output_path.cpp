#include "lua/api/output_path.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <lua.hpp>

#include "core/base/error.h"
#include "lua/bind/value.h"

namespace gpubench::lua {
namespace {

namespace fs = std::filesystem;

constexpr const char* folders_key = "gpubench.output_folders";
// The same limit as Linux.
constexpr int most_links = 40;

// Absolute, without ".", ".." and symbolic links. A link that leads to nothing yet is followed too: opening it for
// writing would make its target.
fs::path resolve(const fs::path& path) {
  const fs::path absolute = fs::absolute(path);
  std::deque<fs::path> left(absolute.begin(), absolute.end());
  fs::path resolved;
  for (int links = 0; !left.empty();) {
    const fs::path part = left.front();
    left.pop_front();
    if (part.empty() || part == ".") continue;
    if (part.is_absolute()) {
      resolved = part;
    } else if (part == "..") {
      resolved = resolved.parent_path();
    } else if (fs::path next = resolved / part; !fs::is_symlink(next)) {
      resolved = std::move(next);
    } else {
      if (++links > most_links) throw Error(fmt::format("'{}' has too many symbolic links in it", path.string()));
      const fs::path target = fs::read_symlink(next);
      left.insert(left.begin(), target.begin(), target.end());
    }
  }
  return resolved;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

std::vector<std::string> output_folders(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, folders_key);
  auto folders =
      lua_isnil(L, -1) ? std::vector<std::string>() : Value<std::vector<std::string>>::read(L, lua_gettop(L));
  lua_pop(L, 1);
  return folders;
}

fs::path resolve_for(std::string_view operation, const std::string& path) {
  if (path.find('\0') != std::string::npos) throw Error(fmt::format("{}: the path has a zero byte in it", operation));
  if (path.empty()) throw Error(fmt::format("{}: the path is empty", operation));
  try {
    return resolve(path);
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}: {}", operation, text_of(error)));
  }
}

}  // namespace

void confine_output(lua_State* L, const std::vector<fs::path>& folders) {
  std::vector<std::string> resolved;
  for (const fs::path& folder : folders) resolved.push_back(resolve(folder).string());
  Value<std::vector<std::string>>::push(L, resolved);
  lua_setfield(L, LUA_REGISTRYINDEX, folders_key);
}

std::string output_path(lua_State* L, const std::string& path, std::string_view operation) {
  const std::vector<std::string> folders = output_folders(L);
  if (folders.empty()) return path;
  const fs::path resolved = resolve_for(operation, path);
  const auto folder = std::ranges::find_if(folders, [&](const auto& one) { return is_below(resolved, one); });
  if (folder == folders.end())
    throw Error(
        fmt::format("{}: '{}' is not below the output folder{} '{}' (choose another with --out, or run with --trusted)",
                    operation, path, folders.size() > 1 ? "s" : "", fmt::join(folders, "' and '")));
  if (resolved.extension() == ".gp")
    throw Error(fmt::format("{}: '{}' would be run by gnuplot (--trusted allows it)", operation, path));
  std::error_code ignored;
  if (fs::is_regular_file(resolved, ignored) && fs::hard_link_count(resolved, ignored) > 1)
    throw Error(
        fmt::format("{}: '{}' is a file with other names (hard links), which may lie elsewhere (--trusted allows it)",
                    operation, path));
  fs::create_directories(*folder, ignored);  // shown when writing
  return resolved.string();
}

std::string path_in_output(lua_State* L, const std::string& path, std::string_view operation) {
  std::string resolved = output_path(L, path, operation);
  for (const std::string& folder : output_folders(L)) {
    if (is_below(folder, resolved))
      throw Error(fmt::format(
          "{}: '{}' is the output folder, or has it in it; what is in the output folder is possible", operation, path));
  }
  return resolved;
}

std::string path_to_rename(lua_State* L, const std::string& path, std::string_view operation) {
  std::string resolved = path_in_output(L, path, operation);
  if (output_folders(L).empty()) return resolved;
  try {
    if (!fs::is_directory(fs::symlink_status(resolved))) return resolved;
    for (const auto& entry : fs::recursive_directory_iterator(resolved)) {
      if (!entry.is_symlink()) continue;
      throw Error(fmt::format("'{}' has the symbolic link '{}' in it, which would lead elsewhere (--trusted allows it)",
                              path, entry.path().lexically_relative(resolved).string()));
    }
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}: {}", operation, text_of(error)));
  }
  return resolved;
}

std::string output_folder(lua_State* L, const std::string& path, std::string_view operation) {
  std::string folder = output_path(L, path, operation);
  std::error_code none_yet;
  for (const auto& entry : fs::directory_iterator(folder, none_yet))
    if (entry.is_symlink()) output_path(L, entry.path().string(), operation);
  return folder;
}

}  // namespace gpubench::lua
