#include "lua/api/tensor/layer_call.h"

#include "lua/bind/machine.h"

namespace gpubench::lua {
namespace {

const char layer_call_key = 0, made_parts_key = 0;

void set_current(lua_State* L, const LayerCall* call) {
  lua_pushlightuserdata(L, const_cast<LayerCall*>(call));  // Lua has no constant pointers
  lua_rawsetp(L, LUA_REGISTRYINDEX, &layer_call_key);
}

MadeParts* current_made_parts(lua_State* L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &made_parts_key);
  auto* const parts = static_cast<MadeParts*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return parts;
}

void set_current_made_parts(lua_State* L, MadeParts* parts) {
  lua_pushlightuserdata(L, parts);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &made_parts_key);
}

}  // namespace

const LayerCall* current_layer_call(lua_State* L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &layer_call_key);
  const auto* const call = static_cast<const LayerCall*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return call;
}

bool in_trial(lua_State* L) {
  const LayerCall* const outer = current_layer_call(L);
  return outer != nullptr && outer->trial;
}

LayerCallScope::LayerCallScope(lua_State* L, const GraphTrace& trace, const CallContext& context, bool trial)
    : L_(Machine::of(L).main()), call_{context, std::nullopt, trial}, outer_(current_layer_call(L)) {
  if (context.step) {
    call_.step = trace.tensor(context.step);
    call_.step->trace()->graph.set_step(context.step);
  }
  set_current(L_, &call_);
}

void LayerCallScope::add_losses(Dispatcher& dispatcher) const {
  if (call_.context.losses == nullptr) return;
  const std::vector<gpubench::Value>& added = dispatcher.trace()->losses;
  call_.context.losses->insert(call_.context.losses->end(), added.begin(), added.end());
}

LayerCallScope::~LayerCallScope() {
  set_current(L_, outer_);
}

void note_made(lua_State* L, std::shared_ptr<const void> part) {
  if (MadeParts* const parts = current_made_parts(L)) parts->push_back(std::move(part));
}

MadePartsScope::MadePartsScope(lua_State* L, MadeParts& parts)
    : L_(Machine::of(L).main()), outer_(current_made_parts(L)) {
  set_current_made_parts(L_, &parts);
}

MadePartsScope::~MadePartsScope() {
  set_current_made_parts(L_, outer_);
}

}  // namespace gpubench::lua
