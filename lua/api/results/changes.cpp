// gb._native.changes(file): what `gpubench changes` prints; "-" is the standard input.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/compare/changes/changes_text.h"
#include "lua/api/openers.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

std::string changes_of_file(const std::string& file) {
  if (file == "-") return changes_text(std::cin, "changes: standard input");
  const std::string what = "changes: " + shown_text(file);
  if (std::filesystem::is_directory(file)) throw Error(what + ": is a folder");
  std::ifstream in(file);
  if (!in) throw Error(fmt::format("{}: {}", what, std::strerror(errno)));
  return changes_text(in, what);
}

}  // namespace

void open_changes(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  native.function<&changes_of_file>("changes");
}

}  // namespace gpubench::lua
