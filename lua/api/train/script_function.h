// Functions of scripts inside layers: the body of a Lambda, an activation, and custom layers with weights.
#pragma once
#include <lua.hpp>
#include <string>

#include "core/nn/layer_function.h"
#include "lua/api/tensor/trace.h"
#include "lua/api/train/layer_call.h"

namespace gpubench::lua {

/// function(x, training, mask) -> y, ...; `x` is a list where the layer has several inputs, and then `mask` is one too,
/// with false for an input without a mask.
LayerFunctionPtr lambda_function(LuaFunction function);

struct CustomLayer {
  LuaFunction build;           ///< function(self, shape); none: the layer makes no weights
  LuaFunction call;            ///< function(self, x, training, mask) -> y, ...; of a cell: (self, x, states, training)
  LuaFunction compute_mask{};  ///< function(self, x, mask) -> mask; none: see supports_masking
  bool supports_masking = false;  ///< its output has the mask of its first input
  Shape state_size{};             ///< of a cell: the size of each of its states
};
LayerFunctionPtr custom_function(CustomLayer layer);

/// Makes the call that `push` pushes, in the current trace, for a layer. Throws Error naming the layer if it returns
/// nothing.
LayerOutputs call_for_layer(lua_State* L, const Layer& layer, const PushCall& push);
/// The only one. Throws Error naming the layer for several.
gpubench::Value only_output(const Layer& layer, const LayerOutputs& outputs);

}  // namespace gpubench::lua
