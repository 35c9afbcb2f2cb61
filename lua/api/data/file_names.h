// File names from scripts: a path, a pattern, a list of these, or a path's bytes from list_files.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "lua/api/tensor/tensor.h"
#include "lua/bind/variant.h"

namespace gpubench::lua {

using FileNames = std::variant<std::string, std::vector<std::string>, Tensor>;

/// Throws ArgumentError for a tensor that is not uint8[n].
std::vector<std::string> listed(lua_State* L, const FileNames& names);

}  // namespace gpubench::lua
