// gb._native.system: the little that the Lua library needs of the machine beyond Lua's own libraries.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/resources.h"
#include "core/base/terminal.h"
#include "lua/api/openers.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

namespace fs = std::filesystem;

double seconds() {
  return Seconds(Clock::now().time_since_epoch()).count();
}

/// Columns of the window that the output goes to; nil if it is no terminal.
std::optional<int> output_width() {
  return terminal_columns(STDOUT_FILENO);
}

std::vector<std::string> scripts_in(const std::string& folder) {
  if (!fs::is_directory(folder)) throw Error("list: '" + folder + "' is not a folder");
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() == ".lua") files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

bool is_file(const std::string& path) {
  std::error_code not_there;
  return fs::is_regular_file(path, not_there);
}

std::string resource_path(const std::string& path) {
  return resource(path).string();
}

}  // namespace

void open_system(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module system = native.submodule("system");
  system.function<&seconds>("seconds")
      .function<&output_width>("output_width")
      .function<[]() { return takes_output(STDOUT_FILENO); }>("takes_output")
      .function<&scripts_in>("scripts_in")
      .function<&resource_path>("resource")
      .function<[](const std::string& path) { return fs::exists(path); }>("exists")
      .function<&is_file>("is_file");
}

}  // namespace gpubench::lua
