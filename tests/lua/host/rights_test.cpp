// Every function that scripts and commands reach has its right in rights.txt, and scripts have none that does harm.
#include <fstream>
#include <gmock/gmock.h>
#include <lua.hpp>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "lua/bind/bind.h"
#include "lua/bind/machine.h"
#include "lua/host/natives.h"
#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::IsEmpty;

/// Names of rights.txt with their right.
std::map<std::string, std::string> rights() {
  std::map<std::string, std::string> all;
  std::ifstream file(GPUBENCH_RIGHTS);
  EXPECT_TRUE(file) << GPUBENCH_RIGHTS;
  std::string right;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word.ends_with(':') && word.find('.') == std::string::npos) {
        right = word.substr(0, word.size() - 1);
      } else {
        EXPECT_TRUE(all.emplace(word, right).second) << word << " is there twice";
      }
    }
  }
  return all;
}

const std::set<std::string>& rights_of_scripts() {
  static const std::set<std::string> some{"computes", "reads", "writes_below", "runs_own"};
  return some;
}

const std::set<std::string>& rights_of_commands() {
  static const std::set<std::string> some{"writes_elsewhere", "opens_history", "starts_programs"};
  return some;
}

/// Functions in the table on top of the stack and in tables in it, and methods of the bound classes.
const char* const walk = R"(
local gb = ...
local function walk(members, prefix, seen)
  if seen[members] then return end
  seen[members] = true
  for name, member in next, members do
    local path = prefix .. tostring(name)
    if type(member) == "function" then print(path) end
    local meta = type(member) == "table" and getmetatable(member)
    if type(member) == "table" then walk(member, path .. ".", seen) end
  end
end
walk(gb, "gb.", {})
for class, parts in pairs(rawget(gb, "_native").classes()) do
  for _, name in ipairs(parts.methods) do print(class .. ":" .. name) end
end
)";

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

std::vector<std::string> without(const std::set<std::string>& names, const std::map<std::string, std::string>& known,
                                 const std::set<std::string>& allowed) {
  std::vector<std::string> left;
  for (const std::string& name : names) {
    const auto found = known.find(name);
    if (found == known.end()) {
      left.push_back(name + ": no right");
    } else if (!allowed.contains(found->second)) {
      left.push_back(name + ": " + found->second);
    }
  }
  return left;
}

class Rights : public FolderTest {
 protected:
  std::set<std::string> of_scripts(const std::vector<std::string>& options = {}) const {
    write("walk.lua", walk);
    const Ended ended = run("local gb = require 'gpubench' assert(loadfile 'walk.lua')(gb)", options);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return lines_of(ended.out);
  }
  std::set<std::string> of_commands() const {
    lua::State state;
    luaL_openlibs(state);
    lua::open_natives(state, lua::StateOf::command);
    std::string said;
    lua_pushlightuserdata(state, &said);
    lua_pushcclosure(
        state,
        [](lua_State* L) {
          auto& text = *static_cast<std::string*>(lua_touserdata(L, lua_upvalueindex(1)));
          text += luaL_checkstring(L, 1);
          text += '\n';
          return 0;
        },
        1);
    lua_setglobal(state, "print");
    if (luaL_loadstring(state, walk) != LUA_OK) throw std::runtime_error(lua_tostring(state, -1));
    {
      const lua::Module gb = lua::Module::root(state);
      lua_pushvalue(state, gb.index() - 1);
      lua_pushvalue(state, gb.index());
      lua::protected_call(state, 1, 0);
    }
    return lines_of(said);
  }
};

TEST_F(Rights, OfScriptsDoNoHarm) {
  const std::set<std::string> names = of_scripts();
  EXPECT_GT(names.size(), 500U);
  EXPECT_THAT(without(names, rights(), rights_of_scripts()), IsEmpty());
}

// With --trusted a script may do what the user may do, by Lua's own libraries; the commands' functions stay with them.
TEST_F(Rights, OfTrustedScriptsAreTheSameHere) {
  EXPECT_EQ(of_scripts({"--trusted"}), of_scripts());
}

TEST_F(Rights, OfCommandsAreListedToo) {
  std::set<std::string> allowed = rights_of_scripts();
  allowed.insert(rights_of_commands().begin(), rights_of_commands().end());
  EXPECT_THAT(without(of_commands(), rights(), allowed), IsEmpty());
}

TEST_F(Rights, OfWhatIsGoneAreNotListed) {
  std::set<std::string> names = of_scripts();
  names.merge(of_commands());
  for (const auto& [name, right] : rights()) {
    EXPECT_TRUE(names.contains(name)) << name;
    EXPECT_TRUE(rights_of_scripts().contains(right) || rights_of_commands().contains(right)) << name << ": " << right;
  }
}

}  // namespace
}  // namespace gpubench
