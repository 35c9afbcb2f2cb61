// The call of a layer's function that is being traced. Layers that the function calls read it: they share its step
// counter and rows, and a trial, which only asks for types, builds none of them.
#pragma once
#include <lua.hpp>
#include <memory>
#include <optional>
#include <vector>

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
/// Whether a layer's function is traced for its types only, so that layers that it calls must not be built.
bool in_trial(lua_State* L);

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

/// Layers (Layer) and models (ScriptModel) in the order in which a script made them.
using MadeParts = std::vector<std::shared_ptr<const void>>;

/// Appends a layer or a model to the parts of the innermost MadePartsScope, if there is one.
void note_made(lua_State* L, std::shared_ptr<const void> part);

/// While the build function of a custom layer runs: notes what it makes.
class MadePartsScope {
 public:
  MadePartsScope(lua_State* L, MadeParts& parts);
  ~MadePartsScope();
  MadePartsScope(const MadePartsScope&) = delete;
  MadePartsScope& operator=(const MadePartsScope&) = delete;

 private:
  lua_State* L_;
  MadeParts* outer_;
};

}  // namespace gpubench::lua
