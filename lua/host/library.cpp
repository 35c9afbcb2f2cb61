#include "lua/host/library.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <lua.hpp>
#include <sstream>
#include <string_view>

#include "core/base/error.h"
#include "lua/bind/bind.h"
#include "lua/bind/machine.h"

namespace gpubench::lua {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string module_path(std::string name) {
  for (char& c : name)
    if (c == '.') c = '/';
  return name;
}

// The first of FOLDER/a/b.lua and FOLDER/a/b/init.lua; `tried` collects what require reports.
fs::path find_module(const fs::path& folder, const std::string& name, std::string& tried) {
  for (const char* ending : {".lua", "/init.lua"}) {
    fs::path file = folder / (module_path(name) + ending);
    if (fs::is_regular_file(file)) return file;
    tried += (tried.empty() ? "no file '" : "\n\tno file '") + file.string() + "'";
  }
  return {};
}

int push_chunk(lua_State* L, const fs::path& file, const std::string& chunk_name) {
  const std::string text = read_text(file);
  if (luaL_loadbufferx(L, text.data(), text.size(), chunk_name.c_str(), "t") != LUA_OK)
    throw ScriptError(lua_tostring(L, -1));
  lua_pushstring(L, file.c_str());
  return 2;
}

bool is_library_module(const std::string& name) {
  return name == "gpubench" || name.starts_with("gpubench.");
}

void refuse_command(const std::string& name, const std::string& only_command) {
  constexpr std::string_view commands = "gpubench.commands.";
  if (!name.starts_with(commands) || name.substr(commands.size()) == only_command) return;
  throw Error("require: '" + name + "' is a command of the program, which no script can call");
}

StackFunction library_searcher(const fs::path& library, const std::optional<std::string>& only_command) {
  return [library, only_command](lua_State* L) {
    const std::string name = Value<std::string>::read(L, 1);
    if (!is_library_module(name)) return lua_pushnil(L), 1;
    if (only_command) refuse_command(name, *only_command);
    std::string tried;
    const fs::path file = find_module(library.parent_path(), name, tried);
    if (file.empty()) return Value<std::string>::push(L, tried), 1;
    return push_chunk(L, file, library_prefix + file.lexically_relative(library).string());
  };
}

StackFunction folder_searcher(const std::vector<fs::path>& folders) {
  return [folders](lua_State* L) {
    const std::string name = Value<std::string>::read(L, 1);
    std::string tried;
    for (const fs::path& folder : folders) {
      const fs::path file = find_module(folder, name, tried);
      if (!file.empty()) return push_chunk(L, file, "@" + file.string());
    }
    return Value<std::string>::push(L, tried), 1;
  };
}

}  // namespace

void open_library(lua_State* L, const fs::path& library, const LibraryOptions& options) {
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "searchers");
  const int others = lua_gettop(L);
  lua_createtable(L, 6, 0);
  lua_rawgeti(L, others, 1);  // package.preload
  lua_rawseti(L, -2, 1);
  Value<StackFunction>::push(L, library_searcher(library, options.only_command));
  lua_rawseti(L, -2, 2);
  Value<StackFunction>::push(L, folder_searcher(options.folders));
  lua_rawseti(L, -2, 3);
  for (lua_Integer k = 2; options.keep_others && k <= static_cast<lua_Integer>(lua_rawlen(L, others)); ++k) {
    lua_rawgeti(L, others, k);
    lua_rawseti(L, -2, k + 2);
  }
  lua_setfield(L, others - 1, "searchers");
  lua_settop(L, others - 2);
}

std::vector<fs::path> module_folders_of_user() {
  std::vector<fs::path> folders;
  const char* list = std::getenv("GPUBENCH_PATH");
  std::istringstream in(list ? list : "");
  for (std::string folder; std::getline(in, folder, ':');)
    if (!folder.empty()) folders.emplace_back(folder);
  return folders;
}

}  // namespace gpubench::lua
