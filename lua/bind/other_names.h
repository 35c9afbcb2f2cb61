// Errors about members that do not exist: what a name of Keras, tf.data or PyTorch is called here, or the similar one,
// or those there are.
#pragma once
#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>

namespace gpubench::lua {

/// "<what> '<name>'" with what core/base/other_names.h says of the name at the place ("gb.layers", "Tensor"), or where
/// else it stands in gb, or known_names(). Where the script goes on, as in `gb.keras.layers.Dense`, all of it is looked
/// up.
std::string no_such(lua_State* L, std::string_view what, std::string_view place, std::string_view name,
                    std::span<const std::string_view> known);

/// Makes reading a global variable that the script has not set an error where Python or another library has the name:
/// `tf`, `len`, `True`. Others are nil, as in Lua.
void name_globals(lua_State* L);

}  // namespace gpubench::lua
