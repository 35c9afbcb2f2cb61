// Exceptions of the binding layer. Functions that read arguments throw instead of raising Lua errors, so that C++
// frames are unwound however Lua was compiled; entry.h turns exceptions into Lua errors.
#pragma once
#include <lua.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gpubench::lua {

/// A script passed a value that a bound function does not accept.
class ArgumentError : public std::invalid_argument {
 public:
  using invalid_argument::invalid_argument;
};

/// The object is of the right class, but was closed.
class ClosedError : public ArgumentError {
 public:
  using ArgumentError::ArgumentError;
};

/// An error raised by Lua code that C++ called; the text already has its script position.
class ScriptError : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// What an exception says, in words of our own where a library threw it.
std::string text_of(const std::exception& error);
/// The text of an error that Lua code raised: any value, and its __tostring may fail. Raises nothing.
std::string error_text(lua_State* L, int index);
/// The type of a value in a script author's terms: the class name for objects.
std::string type_name_at(lua_State* L, int index);
/// What the running function is called in messages ("Model:fit"); empty for one that no module or class registered.
std::string function_name(lua_State* L);
/// Throws ArgumentError "integer expected, got string".
[[noreturn]] void mismatch(lua_State* L, int index, std::string_view expected);

}  // namespace gpubench::lua
