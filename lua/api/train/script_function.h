// Functions of scripts inside layers: the body of a Lambda or an activation, and what custom layers share with it.
#pragma once
#include <lua.hpp>
#include <string>

#include "core/nn/layer_function.h"
#include "lua/api/tensor/layer_call.h"
#include "lua/api/tensor/trace.h"

namespace gpubench::lua {

/// function(x, training, mask) -> y, ...; `x` is a list where the layer has several inputs, and then `mask` is one too,
/// with false for an input without a mask.
LayerFunctionPtr lambda_function(LuaFunction function);

/// Makes the call that `push` pushes, in the current trace, for a layer. Throws Error naming the layer if it returns
/// nothing.
LayerOutputs call_for_layer(lua_State* L, const Layer& layer, const PushCall& push);
/// The only one. Throws Error naming the layer for several.
gpubench::Value only_output(const Layer& layer, const LayerOutputs& outputs);

/// "model.lua:12", or the kind of a callable object.
std::string place_of(const LuaFunction& function);
/// Whether the function has a parameter of this number.
bool takes_parameter(const LuaFunction& function, int number);
/// One tensor, or a list of several, with their masks.
void push_inputs(lua_State* L, const GraphTrace& trace, const LayerArguments& given);
/// The mask of one input, nil for none; of several a list, with false for none.
void push_masks(lua_State* L, const GraphTrace& trace, const LayerArguments& given);

}  // namespace gpubench::lua
