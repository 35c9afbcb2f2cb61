// Files as scripts name them: a path, a pattern, a list of such, or the bytes of a path as list_files gives them.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "lua/api/tensor.h"
#include "lua/bind/variant.h"

namespace gpubench::lua {

using FileNames = std::variant<std::string, std::vector<std::string>, Tensor>;

/// Throws ArgumentError for a tensor that is no uint8[n].
std::vector<std::string> listed(lua_State* L, const FileNames& names);

}  // namespace gpubench::lua
