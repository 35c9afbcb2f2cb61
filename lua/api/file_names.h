// Files as scripts name them: a path, a pattern, or a list of such.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "lua/bind/variant.h"

namespace gpubench::lua {

using FileNames = std::variant<std::string, std::vector<std::string>>;

inline std::vector<std::string> listed(const FileNames& names) {
  if (const auto* one = std::get_if<std::string>(&names)) return {*one};
  return std::get<std::vector<std::string>>(names);
}

}  // namespace gpubench::lua
