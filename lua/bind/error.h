// What the binding layer throws. Readers of arguments throw and never raise Lua errors, so that C++ frames unwind
// whichever way Lua was compiled; entry.h turns what is thrown into the one Lua error.
#pragma once
#include <lua.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gpubench::lua {

/// A script passed something that a bound function cannot take.
class ArgumentError : public std::invalid_argument {
 public:
  using invalid_argument::invalid_argument;
};

/// An error raised by Lua code that C++ called; the text carries its script position already.
class ScriptError : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// The type of a value as a script's author calls it: a class's name for objects.
std::string type_name_at(lua_State* L, int index);
/// Throws ArgumentError "integer expected, got string".
[[noreturn]] void mismatch(lua_State* L, int index, std::string_view expected);
/// " (did you mean 'fit'?)" when a candidate is close to the word, else nothing.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);
std::string join(std::span<const std::string> words);

}  // namespace gpubench::lua
