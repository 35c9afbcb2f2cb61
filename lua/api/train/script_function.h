// Functions of scripts inside layers: the body of a Lambda, an activation, and custom layers with weights.
#pragma once
#include <lua.hpp>
#include <string>

#include "core/nn/layer_function.h"
#include "lua/api/tensor/trace.h"
#include "lua/api/train/layer_call.h"

namespace gpubench::lua {

/// function(x, training) -> y; `x` is a list where the layer has several inputs.
LayerFunctionPtr lambda_function(LuaFunction function);

struct CustomLayer {
  LuaFunction build;  ///< function(self, shape); none: the layer makes no weights
  LuaFunction call;   ///< function(self, x, training) -> y
};
LayerFunctionPtr custom_function(CustomLayer layer);

/// Makes the call that `push` pushes, in the current trace, for a layer. Throws Error naming the layer for anything but
/// one tensor as its result.
gpubench::Value call_for_layer(lua_State* L, const Layer& layer, const PushCall& push);

}  // namespace gpubench::lua
