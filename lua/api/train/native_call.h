// A function, method or operator of tensors as the function of a layer: the native one, called with the layer's inputs
// while its graph is made, so that there is no second table of them.
#pragma once
#include <array>
#include <lua.hpp>
#include <string>
#include <variant>
#include <vector>

#include "core/nn/config.h"
#include "core/nn/layer_function.h"
#include "core/results/info.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

/// Of tensors, by their metamethods; "[]": a slice.
inline constexpr std::array native_operators{"__add",  "__sub", "__mul", "__div", "__pow",
                                             "__idiv", "__mod", "__unm", "[]"};
/// The functions of gb that take tensors of a model.
inline constexpr std::array native_functions{"concat", "einsum", "matmul", "pad", "scatter", "stack", "where"};
/// In names of calls: "operator __add".
inline constexpr const char* operator_prefix = "operator ";

/// An argument of a native call: an input of the layer, a list with inputs, a constant tensor, or a plain value.
struct CallArgument {
  struct Input {
    std::size_t index;
  };
  std::variant<Input, std::vector<CallArgument>, Reference, Info, std::monostate> value;
};

/// `function`: "operator __add", "relu" (a method) or "gb.concat". `result`: the number of the result that the layer
/// computes; 0 where there is one.
LayerFunctionPtr native_call(lua_State* L, std::string function, std::vector<CallArgument> arguments, int result);

/// The function of a saved layer: `stored` is JSON of LayerFunction::stored(). Null for a function of a script.
LayerFunctionPtr stored_native_call(lua_State* L, const std::string& layer, const std::string& stored);

}  // namespace gpubench::lua
