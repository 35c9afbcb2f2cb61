// Layers and symbols for scripts. Each keeps the World in which it was created alive, because its variables are on that
// World's devices.
#pragma once
#include <lua.hpp>
#include <memory>
#include <vector>

#include "core/nn/layer.h"
#include "core/nn/model.h"
#include "core/train/store_variables.h"
#include "lua/api/session.h"
#include "lua/api/tensor_calls.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

/// Creates variables in `world`, with seeds of the session's sequence.
StoreVariables variables_of(Session& session, World& world);

/// Counts training calls outside fit, for layers that draw random numbers: an int64 variable created at its first use.
class CallCounter {
 public:
  /// Adds one call to the graph and returns its number.
  gpubench::Value count(Graph& graph, World& world);

 private:
  VariablePtr counter_;
};

struct ScriptLayer {
  WorldPtr world;
  LayerPtr layer;
  CallCounter counter;
  TensorCalls calls;
};
template <>
inline constexpr const char* class_name<ScriptLayer> = "Layer";

/// The result of applying a layer to an Input: a value of a model under construction.
struct ScriptSymbol {
  WorldPtr world;
  SymbolPtr symbol;
};
template <>
inline constexpr const char* class_name<ScriptSymbol> = "SymbolicTensor";

/// The single value or list of values at `index`.
template <class T>
std::vector<T> read_one_or_more(lua_State* L, int index) {
  if (Value<T>::matches(L, index)) return {Value<T>::read(L, index)};
  return Value<std::vector<T>>::read(L, index);
}

/// Pushes the value of a one-element list, else a table.
template <class T>
void push_one_or_more(lua_State* L, std::vector<T> values) {
  if (values.size() == 1) return Value<T>::push(L, std::move(values[0]));
  Value<std::vector<T>>::push(L, values);
}

struct CallOptions {
  bool training = false;
  static constexpr auto fields = std::tuple{field("training", &CallOptions::training)};
};

/// Whether the argument at `index` (a symbol or a list of them) describes a model instead of holding data.
bool are_symbols(lua_State* L, int index);

}  // namespace gpubench::lua
