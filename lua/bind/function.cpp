#include "lua/bind/function.h"

#include <cassert>
#include <exception>

namespace gpubench::lua {
namespace {

constexpr const char* closure_type = "gpubench.closure";

// Runs where the error happens, while the frames that led to it still stand.
int remember_error(lua_State* L) {
  const std::string text = error_text(L, 1);
  PassingErrors& pending = Machine::of(L).pending;
  const PassingError* const passing = pending.find(text);
  if (passing == nullptr || !passing->exception || passing->traceback.empty()) {
    luaL_traceback(L, L, nullptr, 1);
    pending.add({passing == nullptr ? nullptr : passing->exception, text, lua_tostring(L, -1)});
    lua_pop(L, 1);
  }
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

[[noreturn]] void deliver_error(lua_State* L) {
  Machine& machine = Machine::of(L);
  std::size_t size = 0;
  const char* text = lua_tolstring(L, -1, &size);
  // Errors in the handler and exhausted memory come without having passed it.
  std::string message = text ? std::string(text, size) : std::string("error without a text");
  lua_pop(L, 1);
  PassingError error = machine.pending.take(message);
  if (!error.exception) error.exception = std::make_exception_ptr(ScriptError(error.text));
  machine.delivered = std::move(error);
  std::rethrow_exception(machine.delivered.exception);
}

int call_closure(lua_State* L) {
  const auto& function = *static_cast<const StackFunction*>(lua_touserdata(L, lua_upvalueindex(2)));
  if (!function) throw ScriptError("this function is gone: the collector has ended it, and a finalizer kept it");
  return function(L);
}

// An empty function holds nothing, so that no destructor need run; a finalizer may still hold the closure.
int destroy_closure(lua_State* L) {
  if (void* const memory = luaL_testudata(L, 1, closure_type)) *static_cast<StackFunction*>(memory) = nullptr;
  return 0;
}

/// A closure whose name, or nil, is on top of the stack (capture_exception).
void make_closure(lua_State* L, StackFunction function) {
  void* memory = lua_newuserdatauv(L, sizeof(StackFunction), 0);
  ::new (memory) StackFunction(std::move(function));
  if (luaL_newmetatable(L, closure_type)) {
    lua_pushcfunction(L, &destroy_closure);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  lua_pushcclosure(L, entry<&call_closure>, 2);
}

}  // namespace

void protected_call(lua_State* L, int arguments, int results) {
  assert(Machine::of(L).running() == L);
  const int handler = lua_gettop(L) - arguments;
  lua_pushcfunction(L, &remember_error);
  lua_insert(L, handler);
  const int status = lua_pcall(L, arguments, results, handler);
  assert(Machine::of(L).running() == L);
  lua_remove(L, handler);
  if (status != LUA_OK) deliver_error(L);
}

struct Reference::Slot {
  Slot(std::shared_ptr<Machine> in, int at) : machine(std::move(in)), number(at) {}
  ~Slot() { machine->release(number); }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  std::shared_ptr<Machine> machine;
  int number;
};

Reference::Reference(lua_State* L, int index) {
  Machine::of(L).free_released();
  lua_pushvalue(L, index);
  slot_ = std::make_shared<Slot>(Machine::shared(L), luaL_ref(L, LUA_REGISTRYINDEX));
}

Machine& Reference::machine() const {
  if (!slot_) throw ScriptError("call of a Lua function that was never given");
  Machine& machine = *slot_->machine;
  if (!machine.on_own_thread()) throw ScriptError("a Lua function was called from a worker thread");
  if (!machine.is_open()) throw ScriptError("a Lua function was called after its script ended");
  return machine;
}

void Reference::push(lua_State* L) const {
  machine();
  lua_rawgeti(L, LUA_REGISTRYINDEX, slot_->number);
}

bool Value<LuaFunction>::matches(lua_State* L, int index) {
  if (lua_isfunction(L, index)) return true;
  if (!lua_istable(L, index) && !lua_isuserdata(L, index)) return false;
  if (luaL_getmetafield(L, index, "__call") == LUA_TNIL) return false;
  lua_pop(L, 1);
  return true;
}

void Value<StackFunction>::push(lua_State* L, StackFunction function) {
  lua_pushnil(L);  // no name
  make_closure(L, std::move(function));
}

void push_named(lua_State* L, const std::string& name, StackFunction function) {
  Value<std::string>::push(L, name);
  make_closure(L, std::move(function));
}

}  // namespace gpubench::lua
