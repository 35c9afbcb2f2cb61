// Layers of scripts with a `self`, which may make weights and hold other layers.
#pragma once
#include "core/nn/config.h"
#include "core/nn/layer_function.h"
#include "core/tensor/tensor_type.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

struct CustomLayer {
  LuaFunction build;           ///< function(self, shape); none: the layer makes no weights
  LuaFunction call;            ///< function(self, x, training, mask) -> y, ...; of a cell: (self, x, states, training)
  LuaFunction compute_mask{};  ///< function(self, x, mask) -> mask; none: see supports_masking
  bool supports_masking = false;  ///< its output has the mask of its first input
  Shape state_size{};             ///< of a cell: the size of each of its states
};
LayerFunctionPtr custom_function(CustomLayer layer);

}  // namespace gpubench::lua
