// A function of elements as an argument: either a Lua function, which is traced for the dataset's types, or an object
// that already runs natively.
#pragma once
#include <memory>
#include <string>
#include <variant>

#include "core/data/dataset.h"
#include "lua/api/data/element_function.h"
#include "lua/api/data/lookup.h"
#include "lua/bind/function.h"

namespace gpubench::lua {

using ElementArgument = std::variant<std::shared_ptr<const ElementFunction>, std::shared_ptr<Lookup>, LuaFunction>;

/// The function for the elements of `source`; `what` names the stage in messages ("map"). It gets the tensors of
/// `state` before those of an element.
std::shared_ptr<const ElementFunction> element_function(lua_State* L, const ElementArgument& given,
                                                        const Dataset& source, const std::string& what,
                                                        const Element& state = {});

}  // namespace gpubench::lua
