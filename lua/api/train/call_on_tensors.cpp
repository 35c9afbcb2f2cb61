// Calls of layers and models on tensors, with their options, masks and states.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/terminal.h"
#include "lua/api/tensor/layer_call.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/layers.h"

namespace gpubench::lua {

CallOnTensors::Results CallOnTensors::apply(lua_State* L, std::vector<Tensor> arguments, const AddCall& add) const {
  const LayerCall* const outer = current_layer_call(L);
  CallVariant variant = variant_of_call(world.dispatcher, arguments, training, draws);
  if (outer != nullptr && (training || draws)) {
    variant.first_row = outer->context.first_row;
    variant.replica = outer->context.replica;
  }
  variant.kind += 2 * kind;
  variant.form = form;
  const std::size_t count = arguments.size(), inputs = count - form.masks.size() - form.states;
  for (std::size_t i = 0; i < inputs; ++i) {
    if (arguments[i].mask() == nullptr) continue;
    variant.masked.push_back(i);
    arguments.push_back(*arguments[i].mask());
  }
  const bool shares_step = draws && outer != nullptr && outer->step;
  if (shares_step) arguments.push_back(*outer->step);
  const auto build = [&](Graph& graph, std::span<const gpubench::Value> values) {
    std::vector<gpubench::Value> results;
    static const std::function<void(const std::string&)> warn = [](const std::string& text) { print_message(text); };
    CallContext context{.graph = graph,
                        .training = training,
                        .first_row = variant.first_row,
                        .replica = variant.replica,
                        .losses = &results,
                        .warn = &warn};
    if (shares_step) {
      context.step = values.back();
    } else if (draws) {
      context.step = counter.count(graph, world);
    }
    std::vector<gpubench::Value> masks(inputs);
    for (std::size_t i = 0; i < variant.masked.size(); ++i) masks[variant.masked[i]] = values[count + i];
    LayerOutputs outputs = add(context, values.first(count), masks);
    outputs.masks.resize(outputs.values.size());
    results.emplace_back();  // between the losses and the outputs
    results.insert(results.end(), outputs.values.begin(), outputs.values.end());
    results.insert(results.end(), outputs.masks.begin(), outputs.masks.end());
    return results;
  };
  const std::vector<Tensor> all = calls.apply(world.dispatcher, arguments, variant, build);
  const auto end = std::ranges::find_if(all, [](const Tensor& one) { return !one; });
  Results results{{}, {all.begin(), end}};
  const std::span<const Tensor> outputs(end + 1, all.end());
  for (std::size_t i = 0; i < outputs.size() / 2; ++i) {
    const Tensor& mask = outputs[outputs.size() / 2 + i];
    results.outputs.push_back(mask ? outputs[i].with_mask(mask) : outputs[i]);
  }
  if (outer != nullptr && world.dispatcher.trace() != nullptr) {
    for (const Tensor& loss : results.losses) world.dispatcher.trace()->losses.push_back(world.dispatcher.symbol(loss));
  }
  return results;
}

std::vector<TensorType> examples_of(const std::string& caller, std::span<const Tensor> inputs) {
  if (inputs.empty()) throw Error(fmt::format("{}: expects a tensor, got an empty list", caller));
  std::vector<TensorType> types;
  for (const Tensor& input : inputs) {
    const TensorType& type = input.type();
    if (type.shape.empty()) {
      throw Error(fmt::format("{}: expects tensors with a batch dimension, got {}", caller, to_string(type)));
    }
    types.push_back({Shape(type.shape.begin() + 1, type.shape.end()), type.dtype});
  }
  return types;
}

std::vector<Tensor> unknown_outputs(lua_State* L, TensorTypes examples, std::int64_t rows,
                                    const std::vector<std::optional<TensorType>>& masks) {
  const std::shared_ptr<Trace>& trace = world_of(L).dispatcher.trace();
  if (trace == nullptr) throw Error("a layer of an earlier point is called in the function of a layer; make it anew");
  const auto placeholder = [&](TensorType type) {
    type.shape.insert(type.shape.begin(), rows);
    return Tensor(trace, trace->graph.input(std::move(type), "unknown"));
  };
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    outputs.push_back(placeholder(examples[i]));
    if (i < masks.size() && masks[i]) outputs.back() = outputs.back().with_mask(placeholder(*masks[i]));
  }
  return outputs;
}

namespace {

/// The one that is expected beside inputs of its kind.
template <class T>
const T& like_inputs(const CallOptions::Given& given, std::string_view option) {
  if (const T* const fits = std::get_if<T>(&given)) return *fits;
  throw ArgumentError(fmt::format("option '{}': a {} is expected, as the inputs are", option, class_name<T>));
}

template <class T>
CallForm appended(const CallOptions& options, std::vector<T>& arguments) {
  CallForm form{.training = options.training, .reverse = options.reverse};
  const auto add = [&](const std::optional<CallOptions::Given>& mask, std::size_t input, std::string_view name) {
    if (!mask) return;
    form.masks.push_back(input);
    arguments.push_back(like_inputs<T>(*mask, name));
  };
  add(options.mask, 0, "mask");
  add(options.query_mask, 0, "query_mask");
  add(options.value_mask, 1, "value_mask");
  add(options.key_mask, 2, "key_mask");
  if (!options.initial_state) return form;
  std::vector<CallOptions::Given> states;
  if (const auto* const symbol = std::get_if<ScriptSymbol>(&*options.initial_state)) states = {*symbol};
  if (const auto* const tensor = std::get_if<Tensor>(&*options.initial_state)) states = {*tensor};
  if (const auto* const list = std::get_if<std::vector<CallOptions::Given>>(&*options.initial_state)) states = *list;
  if (states.empty()) throw ArgumentError("option 'initial_state': a state or a list of them is expected, got none");
  form.states = states.size();
  for (const CallOptions::Given& state : states) arguments.push_back(like_inputs<T>(state, "initial_state"));
  return form;
}

}  // namespace

CallForm CallOptions::append_to(std::vector<ScriptSymbol>& arguments) const {
  return appended(*this, arguments);
}

CallForm CallOptions::append_to(std::vector<Tensor>& arguments) const {
  return appended(*this, arguments);
}

CallOptions call_options(lua_State* L) {
  constexpr int options = 3;
  for (int index = options; index <= lua_gettop(L); ++index) {
    if (!Value<ScriptSymbol>::matches(L, index) && !Value<Tensor>::matches(L, index)) continue;
    throw ArgumentError(
        fmt::format("argument #{}: options are expected, got {}; several inputs stand in one table: "
                    "layer {{ a, b }}",
                    index - 1, type_name_at(L, index)));
  }
  reject_surplus(L, options, 1);
  ArgumentCursor cursor{.L = L, .next = options, .hidden = 1};
  return Parameter<CallOptions>::read(cursor);
}

}  // namespace gpubench::lua
