#include "lua/api/train/symbol_calls.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/nn/layer_kind.h"
#include "lua/api/results_values.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/layers.h"
#include "lua/api/train/native_call.h"

namespace gpubench::lua {
namespace {

// Upvalues: the name in messages, as the original has it; the original; the name that native_call() takes.
constexpr int original_upvalue = 2, name_upvalue = 3;

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
    const LayerFunctionPtr call = native_call(L, function, arguments, results.one ? 0 : i);
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
  for (const char* const event : native_operators) {
    lua_getfield(L, top + 6, event);
    wrap(L, std::string(operator_prefix) + event);
    lua_pushvalue(L, -1);
    lua_setfield(L, top + 6, event);  // a tensor may be the first operand
    lua_setfield(L, top + 7, event);
  }
  lua_settop(L, top);
  const Module gb = Module::root(L);
  for (const char* const function : native_functions) {
    lua_getfield(L, gb.index(), function);
    wrap(L, std::string("gb.") + function);
    lua_setfield(L, gb.index(), function);
  }
}

}  // namespace gpubench::lua
