#include "lua/api/train/symbol_calls.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/nn/layer_function.h"
#include "core/nn/layer_kind.h"
#include "core/results/info.h"
#include "lua/api/results/results_values.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/layers.h"
#include "lua/api/train/script_function.h"

namespace gpubench::lua {
namespace {

constexpr std::array operators{"__add", "__sub", "__mul", "__div", "__pow", "__idiv", "__mod", "__unm", "[]"};
/// The functions of gb that take tensors of a model.
constexpr std::array functions{"concat", "einsum", "matmul", "pad", "scatter", "stack", "where"};
constexpr const char* operator_prefix = "operator ";
// Upvalues: the name in messages, as the original has it; the original; the name for push_native.
constexpr int original_upvalue = 2, name_upvalue = 3;

/// An argument of a native call: an input of the layer, a list with inputs, a constant tensor, or a plain value.
struct CallArgument {
  struct Input {
    std::size_t index;
  };
  std::variant<Input, std::vector<CallArgument>, Reference, Info, std::monostate> value;
};

bool is_among(const auto& names, std::string_view name) {
  return std::ranges::any_of(names, [&](const char* one) { return name == one; });
}

/// Pushes the function: "operator __add", "relu" (a method) or "gb.concat". Nil if there is none.
void push_native(lua_State* L, const std::string& name) {
  luaL_checkstack(L, 6, "native function");
  lua_pushnil(L);
  const int result = lua_gettop(L);
  if (name.starts_with("gb.")) {
    const Module gb = Module::root(L);
    if (!is_among(functions, name.substr(3))) return;
    lua_getfield(L, gb.index(), name.c_str() + 3);
    lua_replace(L, result);
    return;
  }
  const bool is_operator = name.starts_with(operator_prefix);
  const std::string key = is_operator ? name.substr(std::string_view(operator_prefix).size()) : name;
  if (is_operator && !is_among(operators, key)) return;
  push_class_registry(L);
  lua_getfield(L, -1, class_name<Tensor>);
  lua_getfield(L, -1, is_operator ? "metatable" : "methods");
  lua_pushlstring(L, key.data(), key.size());
  lua_rawget(L, -2);
  lua_replace(L, result);
  lua_settop(L, result);
}

/// Calls a function and returns one of its results, or of the list that it returns. Upvalues: the function, the number.
int one_result(lua_State* L) {
  const auto number = static_cast<int>(lua_tointeger(L, lua_upvalueindex(2)));
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  if (lua_istable(L, 1)) {
    lua_rawgeti(L, 1, number);
  } else {
    lua_settop(L, number);
  }
  return 1;
}

class NativeCall final : public LayerFunction {
 public:
  /// `result`: the number of the result that the layer computes; 0 where there is one.
  NativeCall(lua_State* L, std::string function, std::vector<CallArgument> arguments, int result)
      : machine_(Machine::shared(L)),
        function_(std::move(function)),
        arguments_(std::move(arguments)),
        result_(result) {}

  /// "add", "relu", "concat".
  std::string name() const override;
  std::string stored() const override;
  /// As in Keras, functions of tensors return values without masks.
  MaskRule mask_rule() const override { return MaskRule::ends; }
  std::unique_ptr<FunctionBody> body(const Layer& layer) const override;

  const std::shared_ptr<Machine>& machine() const { return machine_; }
  const std::string& function() const { return function_; }
  const std::vector<CallArgument>& arguments() const { return arguments_; }
  int result() const { return result_; }

 private:
  static Info stored(const CallArgument& argument);

  std::shared_ptr<Machine> machine_;
  std::string function_;
  std::vector<CallArgument> arguments_;
  int result_;
};

class NativeBody final : public FunctionBody {
 public:
  NativeBody(const NativeCall& call, const Layer& layer)
      : machine_(call.machine()),
        function_(call.function()),
        arguments_(call.arguments()),
        result_(call.result()),
        layer_(layer) {}

  gpubench::Value call(const CallContext& context, std::span<const gpubench::Value> inputs) override {
    if (!machine_->is_open()) throw Error("the script has ended, and the functions of its layers with it");
    lua_State* const running = machine_->running();
    const WorldPtr world = session_of(running).placement.world();
    const GraphTrace trace(world->dispatcher, context.graph, layer_.policy().compute);
    const auto push_call = [&](lua_State* L) {
      luaL_checkstack(L, static_cast<int>(arguments_.size()) + 4, "arguments");
      push_native(L, function_);
      if (result_ != 0) {
        lua_pushinteger(L, result_);
        lua_pushcclosure(L, &one_result, 2);
      }
      for (const CallArgument& argument : arguments_) push(L, argument, trace, inputs);
      return static_cast<int>(arguments_.size());
    };
    return only_output(layer_, call_for_layer(running, layer_, push_call));
  }
  gpubench::Value trial(const AddWeight&, TensorTypes, const CallContext& context,
                        std::span<const gpubench::Value> inputs) override {
    return call(context, inputs);
  }

 private:
  static void push(lua_State* L, const CallArgument& argument, const GraphTrace& trace,
                   std::span<const gpubench::Value> inputs) {
    luaL_checkstack(L, 4, "arguments");
    struct Push {
      lua_State* L;
      const GraphTrace& trace;
      std::span<const gpubench::Value> inputs;
      void operator()(CallArgument::Input input) const {
        if (input.index >= inputs.size()) throw Error(fmt::format("an operator needs input {}", input.index + 1));
        Value<Tensor>::push(L, trace.tensor(inputs[input.index]));
      }
      void operator()(const std::vector<CallArgument>& list) const {
        lua_createtable(L, static_cast<int>(list.size()), 0);
        for (std::size_t i = 0; i < list.size(); ++i) {
          push(L, list[i], trace, inputs);
          lua_rawseti(L, -2, static_cast<lua_Integer>(i + 1));
        }
      }
      void operator()(const Reference& reference) const { reference.push(L); }
      void operator()(const Info& info) const { Value<Info>::push(L, info); }
      void operator()(std::monostate) const { lua_pushnil(L); }
    };
    std::visit(Push{L, trace, inputs}, argument.value);
  }

  std::shared_ptr<Machine> machine_;
  std::string function_;
  std::vector<CallArgument> arguments_;
  int result_;
  const Layer& layer_;
};

std::string NativeCall::name() const {
  if (function_.starts_with("gb.")) return function_.substr(3);
  if (!function_.starts_with(operator_prefix)) return function_;
  const std::string event = function_.substr(std::string_view(operator_prefix).size());
  if (event == "[]") return "slice";
  return event == "__unm" ? "neg" : event.substr(2);
}

Info NativeCall::stored(const CallArgument& argument) {
  if (const auto* const input = std::get_if<CallArgument::Input>(&argument.value)) {
    return Info::Fields{{"input", static_cast<std::int64_t>(input->index)}};
  }
  if (const auto* const list = std::get_if<std::vector<CallArgument>>(&argument.value)) {
    Info::List stored_list;
    for (const CallArgument& one : *list) stored_list.push_back(stored(one));
    return Info::Fields{{"list", std::move(stored_list)}};
  }
  if (const auto* const info = std::get_if<Info>(&argument.value)) return Info::Fields{{"value", *info}};
  if (std::holds_alternative<std::monostate>(argument.value)) return Info::Fields{};
  throw Error("it holds a tensor of the script; the model's weights can be saved (save_weights)");
}

std::string NativeCall::stored() const {
  Info::List arguments;
  try {
    for (const CallArgument& argument : arguments_) arguments.push_back(stored(argument));
  } catch (const Error& error) {
    throw Error(fmt::format("an operation '{}' cannot be stored in an architecture: {}", name(), error.what()));
  }
  Info::Fields fields{{"call", function_}, {"arguments", std::move(arguments)}};
  if (result_ != 0) fields.emplace_back("result", std::int64_t{result_});
  return to_json_line(fields);
}

std::unique_ptr<FunctionBody> NativeCall::body(const Layer& layer) const {
  return std::make_unique<NativeBody>(*this, layer);
}

/// Reads a call's arguments and collects the symbols among them.
class ArgumentReader {
 public:
  explicit ArgumentReader(lua_State* L) : L_(L) {}
  std::vector<SymbolPtr> symbols;
  WorldPtr world;

  std::vector<CallArgument> read() {
    std::vector<CallArgument> arguments;
    for (int i = 1; i <= lua_gettop(L_); ++i) arguments.push_back(read(i, 0));
    return arguments;
  }

 private:
  CallArgument read(int index, int depth) {
    index = lua_absindex(L_, index);
    luaL_checkstack(L_, 6, "arguments");
    if (Value<ScriptSymbol>::matches(L_, index)) {
      const auto symbol = Value<ScriptSymbol>::read(L_, index);
      symbols.push_back(symbol.symbol);
      world = symbol.world;
      return {CallArgument::Input{symbols.size() - 1}};
    }
    if (lua_isnil(L_, index)) return {std::monostate{}};
    if (Value<Tensor>::matches(L_, index)) return {Reference(L_, index)};
    if (lua_istable(L_, index) && holds_objects(index)) {
      constexpr int deepest = 4;
      if (depth == deepest) throw ArgumentError("lists of symbols are nested too deeply");
      std::vector<CallArgument> list;
      for (std::size_t i = 1; i <= lua_rawlen(L_, index); ++i) {
        lua_rawgeti(L_, index, static_cast<lua_Integer>(i));
        list.push_back(read(-1, depth + 1));
        lua_pop(L_, 1);
      }
      return {std::move(list)};
    }
    return {Value<Info>::read(L_, index)};
  }

  /// Whether the first entry of a table is a symbol, a tensor or a list of them.
  bool holds_objects(int index) const {
    bool objects = false;
    for (std::size_t i = 1; i <= lua_rawlen(L_, index) && !objects; ++i) {
      lua_rawgeti(L_, index, static_cast<lua_Integer>(i));
      objects = lua_isuserdata(L_, -1) != 0;
      lua_pop(L_, 1);
    }
    return objects;
  }

  lua_State* L_;
};

/// What a call gives: one value, several, or a list.
struct CallResults {
  int count = 1;
  bool one = true, list = false;
};

/// Of the call on the stack. Axes count the batch as dimension 0, and nothing is known of its size.
CallResults results_of(lua_State* L, const std::string& function) {
  if (function == "top_k") return {.count = 2, .one = false};
  const bool unstacks = function == "unstack";
  if (!unstacks && function != "split") return {};
  CallResults results{.one = false, .list = true};
  if (!unstacks && lua_istable(L, 2)) {
    results.count = static_cast<int>(lua_rawlen(L, 2)) + 1;
  } else if (!unstacks) {
    constexpr std::int64_t most = 1024;  // layers that one call makes
    const auto sections = Value<std::int64_t>::read(L, 2);
    if (sections < 1 || sections > most) {
      throw ArgumentError(fmt::format("{} parts; 1 to {} are possible", sections, most));
    }
    results.count = static_cast<int>(sections);
  } else {
    const TensorType type = Value<ScriptSymbol>::read(L, 1).symbol->type();
    const auto axis = Value<std::optional<std::int64_t>>::read(L, 2).value_or(0);
    const std::int64_t along = axis < 0 ? axis + type.rank() : axis - 1;
    if (along < 0 || along >= type.rank()) {
      throw ArgumentError(
          fmt::format("axis {} cannot be taken apart: the examples are {}, and axis 0 is the batch, whose "
                      "size is not known",
                      axis, to_string(type)));
    }
    results.count = static_cast<int>(type.shape[static_cast<std::size_t>(along)]);
  }
  return results;
}

int apply_to_symbols(lua_State* L) {
  const std::string function = lua_tostring(L, lua_upvalueindex(name_upvalue));
  const CallResults results = results_of(L, function);
  ArgumentReader reader(L);
  const std::vector<CallArgument> arguments = reader.read();
  // The type of computation is that of the inputs: an operator casts nothing.
  const auto floating =
      std::ranges::find_if(reader.symbols, [](const SymbolPtr& symbol) { return is_floating(symbol->type().dtype); });
  const Dtype dtype = (floating == reader.symbols.end() ? reader.symbols.front() : *floating)->type().dtype;
  const DeviceId device = reader.world->dispatcher.device();
  std::vector<ScriptSymbol> symbols;
  for (int i = 1; i <= results.count; ++i) {
    const LayerFunctionPtr call = std::make_shared<const NativeCall>(L, function, arguments, results.one ? 0 : i);
    const LayerPtr layer = make_layer("Lambda", {{"function", call}, {"dtype", std::string(to_string(dtype))}}, device);
    symbols.push_back({reader.world, apply_layer(layer, reader.symbols)});
  }
  if (results.list) {
    Value<std::vector<ScriptSymbol>>::push(L, symbols);
    return 1;
  }
  for (const ScriptSymbol& symbol : symbols) Value<ScriptSymbol>::push(L, symbol);
  return results.count;
}

bool is_symbol(lua_State* L, int index) {
  return luaL_testudata(L, index, class_name<ScriptSymbol>) != nullptr;
}

/// The function of tensors itself, unless an argument is a symbol or a list with one.
int call_or_describe(lua_State* L) {
  for (int i = lua_gettop(L); i > 0; --i) {
    bool symbols = is_symbol(L, i);
    for (std::size_t k = lua_istable(L, i) ? std::min<std::size_t>(lua_rawlen(L, i), max_rank) : 0; k > 0; --k) {
      lua_rawgeti(L, i, static_cast<lua_Integer>(k));
      symbols = symbols || is_symbol(L, -1);
      lua_pop(L, 1);
    }
    if (symbols) return entry<&apply_to_symbols>(L);
  }
  return lua_tocfunction(L, lua_upvalueindex(original_upvalue))(L);
}

/// Replaces the function on top of the stack by one that takes symbols too.
void wrap(lua_State* L, const std::string& name) {
  lua_getupvalue(L, -1, 1);  // its name in messages
  lua_insert(L, -2);
  lua_pushstring(L, name.c_str());
  lua_pushcclosure(L, &call_or_describe, name_upvalue);
}

}  // namespace

/// x[{{}, {a, b}, c}] with a range or a number for each dimension; the first is the batch, which stays whole.
int index_symbol(lua_State* L) {
  bool is_whole_batch = false;
  if (lua_istable(L, 2)) {
    is_whole_batch = lua_rawgeti(L, 2, 1) == LUA_TTABLE && lua_rawlen(L, -1) == 0;
    lua_pop(L, 1);
  }
  if (!is_whole_batch) {
    throw ArgumentError(
        "a value of a model is indexed by a range or a number for each dimension, and the first is the batch, "
        "which stays whole: x[{ {}, { 1, 3 } }] or x[{ {}, 1 }]");
  }
  push_class_registry(L);
  lua_getfield(L, -1, class_name<Tensor>);
  lua_getfield(L, -1, "metatable");
  lua_getfield(L, -1, "[]");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 1);
  return 1;
}

void add_symbol_calls(lua_State* L) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, 12, "symbols");
  push_class_registry(L);
  lua_getfield(L, -1, class_name<Tensor>);
  lua_getfield(L, -2, class_name<ScriptSymbol>);
  const int tensor = top + 2, symbol = top + 3;
  lua_getfield(L, tensor, "methods");
  lua_getfield(L, symbol, "methods");
  const int from = top + 4, into = top + 5;
  for (lua_pushnil(L); lua_next(L, from) != 0; lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    wrap(L, lua_tostring(L, -2));
    lua_rawset(L, into);
  }
  lua_getfield(L, tensor, "metatable");
  lua_getfield(L, symbol, "metatable");
  for (const char* const event : operators) {
    lua_getfield(L, top + 6, event);
    wrap(L, std::string(operator_prefix) + event);
    lua_pushvalue(L, -1);
    lua_setfield(L, top + 6, event);  // a tensor may be the first operand
    lua_setfield(L, top + 7, event);
  }
  lua_settop(L, top);
  const Module gb = Module::root(L);
  for (const char* const function : functions) {
    lua_getfield(L, gb.index(), function);
    wrap(L, std::string("gb.") + function);
    lua_setfield(L, gb.index(), function);
  }
}

namespace {

CallArgument argument_of(const Info& stored, std::size_t& inputs) {
  if (const Info* const input = stored.find("input"); input != nullptr && input->cell() != nullptr) {
    ++inputs;
    return {CallArgument::Input{inputs - 1}};
  }
  if (const Info* const list = stored.find("list"); list != nullptr && list->list() != nullptr) {
    std::vector<CallArgument> arguments;
    for (const Info& one : *list->list()) arguments.push_back(argument_of(one, inputs));
    return {std::move(arguments)};
  }
  if (const Info* const value = stored.find("value")) return {*value};
  return {std::monostate{}};
}

}  // namespace

LayerFunctionPtr stored_native_call(lua_State* L, const std::string& layer, const std::string& stored) {
  const Info info = parse_json(stored, "a layer's function");
  const Info* const call = info.find("call");
  if (call == nullptr) return nullptr;
  const std::string name = info.text("call");
  push_native(L, name);
  const bool known = lua_iscfunction(L, -1) != 0;
  lua_pop(L, 1);
  if (!known) throw Error(fmt::format("layer '{}': tensors have no function '{}'", layer, name));
  std::vector<CallArgument> arguments;
  std::size_t inputs = 0;
  if (const Info* const list = info.find("arguments"); list != nullptr && list->list() != nullptr) {
    for (const Info& one : *list->list()) arguments.push_back(argument_of(one, inputs));
  }
  const int result = static_cast<int>(info.number("result").value_or(0));
  return std::make_shared<const NativeCall>(L, name, std::move(arguments), result);
}

}  // namespace gpubench::lua
