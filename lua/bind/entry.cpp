#include "lua/bind/entry.h"

#include <cctype>
#include <optional>
#include <typeinfo>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/base/other_names.h"

namespace gpubench::lua {

namespace {

/// The text with the function's qualified name in front: in place of the last part of the name, where core has begun
/// with that, "Dense: " or "adam: ".
std::string with_name(const std::string& name, const std::string& text) {
  const std::string_view own = std::string_view(name).substr(name.find_last_of(".:") + 1);
  const std::size_t begin = text.find(": ");
  if (begin != std::string::npos && same_but_for_style(own, std::string_view(text).substr(0, begin))) {
    return name + text.substr(begin);
  }
  return text.starts_with(name + ": ") ? text : name + ": " + text;
}

/// gb.Model, gb.layers.Dense: by their capital.
bool is_constructor(const std::string& name) {
  if (!name.starts_with("gb.")) return false;
  return std::isupper(static_cast<unsigned char>(name[name.rfind('.') + 1])) != 0;
}

}  // namespace

// Functions registered by a module or class keep their qualified name as first upvalue ("Model:fit"). Errors of
// arguments begin with it, and those of core where a constructor calls it.
void capture_exception(lua_State* L, const std::exception& error) {
  Machine& machine = Machine::of(L);
  const std::exception_ptr exception = std::current_exception();
  PassingError passing;
  if (exception == machine.delivered.exception) {
    passing = machine.delivered;
  } else {
    std::string text = text_of(error);
    const std::string name = function_name(L);
    const bool of_argument = dynamic_cast<const ArgumentError*>(&error) != nullptr && !name.empty();
    if (of_argument || (typeid(error) == typeid(Error) && is_constructor(name))) text = with_name(name, text);
    passing = {exception, script_position(L) + text, {}};
  }
  lua_pushlstring(L, passing.text.data(), passing.text.size());
  machine.pending.add(std::move(passing));
}

namespace {

constexpr const char* colon_hint = " (call methods with ':')";

// "; here: ..." of a function that makes another one for map, which is called with an element itself.
std::string hint_for_element(lua_State* L, int index) {
  if (lua_isuserdata(L, index) == 0) return {};
  const std::optional<OtherName> other = find_other_name("called with an element", function_name(L));
  return other ? "; here: " + other->text : "";
}

}  // namespace

void argument_failed(const ArgumentCursor& cursor, int index, const ArgumentError& error) {
  const std::string text = error.what();
  if (index <= cursor.hidden) throw ArgumentError(text + (dynamic_cast<const ClosedError*>(&error) ? "" : colon_hint));
  throw ArgumentError("argument #" + std::to_string(index - cursor.hidden) + ": " + text +
                      hint_for_element(cursor.L, index));
}

void not_an_object(lua_State* L, const std::string& class_name) {
  throw ArgumentError(class_name + " expected, got " + type_name_at(L, 1) + colon_hint);
}

void reject_surplus(lua_State* L, int taken, int hidden) {
  const int given = lua_gettop(L);
  for (int index = taken + 1; index <= given; ++index) {
    if (lua_isnil(L, index)) continue;
    throw ArgumentError("takes at most " + std::to_string(taken - hidden) + " argument" +
                        (taken - hidden == 1 ? "" : "s") + ", got " + std::to_string(given - hidden) +
                        hint_for_element(L, index));
  }
}

}  // namespace gpubench::lua
