// The call of a layer's function that is being traced. Layers that the function calls read it: they share its step
// counter and rows, and a trial, which only asks for types, builds none of them.
#pragma once
#include <lua.hpp>
#include <optional>

#include "core/exec/dispatcher.h"
#include "core/nn/layer.h"

namespace gpubench::lua {

struct LayerCall {
  const CallContext& context;  ///< its graph is elsewhere during the trace
  std::optional<Tensor> step;  ///< the step counter of the context in the trace
  bool trial = false;
};

/// Null outside of a layer's function.
const LayerCall* current_layer_call(lua_State* L);

/// Makes a call the current one. The trace must have begun.
class LayerCallScope {
 public:
  LayerCallScope(lua_State* L, const GraphTrace& trace, const CallContext& context, bool trial);
  ~LayerCallScope();
  /// Hands the losses of the trace, which must last, over to the context.
  void add_losses(Dispatcher& dispatcher) const;
  LayerCallScope(const LayerCallScope&) = delete;
  LayerCallScope& operator=(const LayerCallScope&) = delete;

 private:
  lua_State* L_;
  LayerCall call_;
  const LayerCall* outer_;
};

}  // namespace gpubench::lua
