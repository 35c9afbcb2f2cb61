// A Lua function copied out of its state: its code and copies of its upvalues, from which other states create their own
// functions. They share nothing, so they can run in different threads.
#pragma once
#include <lua.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpubench::lua {

class PortableFunction {
 public:
  /// Copies numbers, strings, booleans, tables of these and Lua functions. Throws Error naming the variable that holds
  /// any other value. `what` names the operation in messages.
  PortableFunction(lua_State* L, int index, const std::string& what);

  /// Pushes the function in another state and gives it that state's globals. The stack must have room for a few values.
  void push(lua_State* L) const;

 private:
  struct Node {
    int index;  ///< into nodes_
  };
  using Atom = std::variant<std::monostate, bool, lua_Integer, lua_Number, std::string, Node>;
  struct Table {
    std::vector<std::pair<Atom, Atom>> entries;
  };
  struct Code {
    std::string bytes;
    std::vector<Atom> upvalues;
    /// Index of _ENV (the globals) among the upvalues; -1: none.
    int globals = -1;
  };

  Atom capture(lua_State* L, int index, const std::string& path, int depth);
  Code capture_code(lua_State* L, int index, const std::string& path, int depth);
  Table capture_table(lua_State* L, int index, const std::string& path, int depth);
  void push_atom(lua_State* L, const Atom& atom, int made) const;

  std::string what_;
  std::vector<std::variant<Table, Code>> nodes_;
  std::vector<std::pair<const void*, int>> seen_;
};

}  // namespace gpubench::lua
