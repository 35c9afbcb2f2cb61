// Layers and symbols for scripts. Each keeps the World in which it was created alive, because its variables are on that
// World's devices.
#pragma once
#include <functional>
#include <lua.hpp>
#include <memory>
#include <vector>

#include "core/nn/layer.h"
#include "core/nn/model.h"
#include "core/train/store_variables.h"
#include "lua/api/session.h"
#include "lua/api/tensor/calls.h"
#include "lua/api/tensor/symbol.h"
#include "lua/api/tensor/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

/// Creates variables in `world`, with seeds of the session's sequence.
StoreVariables variables_of(Session& session, World& world);

/// A call of a layer or model on tensors: eagerly, in a traced function, or in the function of a layer, whose step
/// counter and rows it shares.
struct CallOnTensors {
  /// `masks`: those that came with the inputs, among the arguments in front.
  using AddCall = std::function<LayerOutputs(const CallContext&, std::span<const gpubench::Value> arguments,
                                             const std::vector<gpubench::Value>& masks)>;
  struct Results {
    std::vector<Tensor> outputs, losses;
  };
  World& world;
  CallCounter& counter;
  TensorCalls& calls;
  bool training = false;
  bool draws = false;  ///< random numbers, in this call
  CallForm form{};
  int kind = 0;  ///< of the call, if `calls` has graphs of several

  /// The outputs, with their masks. In the function of a layer, the losses join those of that layer too.
  Results apply(lua_State* L, std::vector<Tensor> arguments, const AddCall& add) const;
};

/// Placeholders for what an unbuilt layer returns in a trial, with masks where there are types of them.
std::vector<Tensor> unknown_outputs(lua_State* L, TensorTypes examples, std::int64_t rows,
                                    const std::vector<std::optional<TensorType>>& masks = {});

struct ScriptLayer {
  WorldPtr world;
  LayerPtr layer;
  CallCounter counter;
  TensorCalls calls;
  SymbolPtr output;              ///< of its latest application to symbols, or its first call in a model; null: none
  std::vector<Tensor> losses{};  ///< that its latest call on tensors has added
};
template <>
inline constexpr const char* class_name<ScriptLayer> = "Layer";
template <>
struct Identity<ScriptLayer> {
  static const void* of(const ScriptLayer& layer) { return layer.layer.get(); }
  static void take_over(ScriptLayer& kept, const ScriptLayer& pushed) {
    if (pushed.output != nullptr) kept.output = pushed.output;
  }
};

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
  using Given = std::variant<ScriptSymbol, Tensor>;
  std::optional<bool> training;
  bool reverse = false;
  std::optional<Given> mask, query_mask, value_mask, key_mask;
  std::optional<std::variant<ScriptSymbol, Tensor, std::vector<Given>>> initial_state;
  static constexpr auto fields = std::tuple{field("training", &CallOptions::training),
                                            field("reverse", &CallOptions::reverse),
                                            field("mask", &CallOptions::mask),
                                            field("query_mask", &CallOptions::query_mask),
                                            field("value_mask", &CallOptions::value_mask),
                                            field("key_mask", &CallOptions::key_mask),
                                            field("initial_state", &CallOptions::initial_state)};

  /// The form of the call, whose masks and states are appended to the arguments: all symbols, or all tensors.
  CallForm append_to(std::vector<ScriptSymbol>& arguments) const;
  CallForm append_to(std::vector<Tensor>& arguments) const;
};

/// The options of layer(inputs, options) and model(inputs, options), which are the last argument.
CallOptions call_options(lua_State* L);

/// The types of one example of each of `inputs`. Throws Error for none and for one without a batch dimension.
std::vector<TensorType> examples_of(const std::string& caller, std::span<const Tensor> inputs);

/// The losses of a latest call, but for those of a traced function that has ended.
std::vector<Tensor> lasting_losses(const World& world, std::vector<Tensor> of_call);

/// These, and behind them the penalties of the layers' weights.
std::vector<Tensor> all_losses(World& world, const std::vector<Tensor>& of_call, std::span<const LayerPtr> layers);

/// The variables of `all` that `some` lacks, in their order.
std::vector<VariablePtr> without(std::vector<VariablePtr> all, const std::vector<VariablePtr>& some);
/// Copies of the variables' values.
std::vector<Tensor> read_tensors(World& world, const std::vector<VariablePtr>& variables);
std::vector<HostTensor> host_tensors(lua_State* L, const std::vector<TensorLike>& values);

/// Whether the argument at `index` (a symbol or a list of them) describes a model instead of holding data.
bool are_symbols(lua_State* L, int index);

}  // namespace gpubench::lua
