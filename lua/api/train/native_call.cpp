#include "lua/api/train/native_call.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/results/info.h"
#include "lua/api/results_values.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/script_function.h"

namespace gpubench::lua {
namespace {

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
    if (!is_among(native_functions, name.substr(3))) return;
    lua_getfield(L, gb.index(), name.c_str() + 3);
    lua_replace(L, result);
    return;
  }
  const bool is_operator = name.starts_with(operator_prefix);
  const std::string key = is_operator ? name.substr(std::string_view(operator_prefix).size()) : name;
  if (is_operator && !is_among(native_operators, key)) return;
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

LayerFunctionPtr native_call(lua_State* L, std::string function, std::vector<CallArgument> arguments, int result) {
  return std::make_shared<const NativeCall>(L, std::move(function), std::move(arguments), result);
}

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
