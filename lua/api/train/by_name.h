// A model's inputs, outputs, labels or weights of examples in a table by names, { a = x, b = y }. As in Keras, such
// values are in the order of their names.
#pragma once
#include <lua.hpp>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/nn/model.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

/// Values in a list or by names. `T` is the type of a value.
template <class T>
struct ListOrNamed {
  std::vector<T> list;
  std::map<std::string, T> named;
};
template <class T>
struct Value<ListOrNamed<T>> {
  static std::string expected() { return "list, or table by names"; }
  static bool matches(lua_State* L, int index) { return lua_istable(L, index); }
  static ListOrNamed<T> read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected());
    if (lua_rawlen(L, index) > 0) return {Value<std::vector<T>>::read(L, index), {}};
    return {{}, Value<std::map<std::string, T>>::read(L, index)};
  }
};

/// The names that a table may have: those of a model's inputs, or of its outputs.
struct PossibleNames {
  std::vector<std::string> names;
  std::string kind;  ///< "input" or "output"
};
PossibleNames names_of_inputs(const Model& model);
PossibleNames names_of_outputs(const Model& model);

/// If the value at `index` is a table by names, pushes a list of its values in the order of `possible`, and returns
/// true. Throws ArgumentError for a name that is missing or not possible. `what` begins its text: "labels: ".
bool push_in_order(lua_State* L, int index, const PossibleNames& possible, const std::string& what = "");

/// The outputs as scripts get them: a table if the model has given names; else a list, or the only one.
template <class T>
std::variant<T, std::vector<T>, std::map<std::string, T>> outputs_for_script(const ModelNames& given,
                                                                             std::vector<T> outputs) {
  if (given.outputs.empty() && outputs.size() == 1) return std::move(outputs[0]);
  if (given.outputs.empty()) return outputs;
  std::map<std::string, T> named;
  for (std::size_t i = 0; i < outputs.size(); ++i) named.emplace(given.outputs[i], std::move(outputs[i]));
  return named;
}
template <class T>
void push_outputs(lua_State* L, const ModelNames& given, std::vector<T> outputs) {
  const auto shown = outputs_for_script(given, std::move(outputs));
  Value<std::remove_const_t<decltype(shown)>>::push(L, shown);
}

}  // namespace gpubench::lua
