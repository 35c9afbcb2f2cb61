#include "lua/bind/error.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace gpubench::lua {
namespace {

// Letters to insert, delete, replace or swap with their neighbour to make one word the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> next(b.size() + 1);
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({replaced, row[j] + 1, next[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = std::exchange(row, std::move(next));
  }
  return row.back();
}

}  // namespace

std::string type_name_at(lua_State* L, int index) {
  const int kind = luaL_getmetafield(L, index, "__name");
  if (kind == LUA_TNIL) return luaL_typename(L, index);
  std::string name = kind == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, index);
  lua_pop(L, 1);
  return name;
}

void mismatch(lua_State* L, int index, std::string_view expected) {
  throw ArgumentError(std::string(expected) + " expected, got " + type_name_at(L, index));
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::size_t tolerance = word.size() < 4 ? 1 : 2;
  std::string_view best;
  std::size_t best_distance = tolerance + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best.empty() ? std::string() : " (did you mean '" + std::string(best) + "'?)";
}

std::string join(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace gpubench::lua
