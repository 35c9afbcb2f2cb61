// Values of a model under construction, which stand where tensors may.
#pragma once
#include "core/nn/model.h"
#include "lua/api/session.h"
#include "lua/bind/object.h"

namespace gpubench::lua {

/// The result of applying a layer to an Input: a value of a model under construction.
struct ScriptSymbol {
  WorldPtr world;
  SymbolPtr symbol;
};
template <>
inline constexpr const char* class_name<ScriptSymbol> = "SymbolicTensor";
template <>
struct Identity<ScriptSymbol> {
  static const void* of(const ScriptSymbol& symbol) { return symbol.symbol.get(); }
  static void take_over(ScriptSymbol&, const ScriptSymbol&) {}
};

}  // namespace gpubench::lua
