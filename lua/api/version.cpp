// gb.version, gb.format: what this build is, and how numbers are written for people.
#include <optional>
#include <string>

#include "core/base/units.h"
#include "core/results/build_info.h"
#include "lua/api/openers.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

std::string count(std::int64_t value, const std::optional<std::string>& noun) {
  return noun ? format_count(value, *noun) : format_count(value);
}

}  // namespace

void open_version(lua_State* L) {
  const Module gb = Module::root(L);
  gb.value("version", build_info().text("version"));

  const Module format = gb.submodule("format");
  format.function<&format_bytes>("bytes")
      .function<&format_seconds>("seconds")
      .function<&format_si>("si")
      .function<&count>("count");
}

}  // namespace gpubench::lua
