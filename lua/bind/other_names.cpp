#include "lua/bind/other_names.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/base/other_names.h"
#include "lua/bind/entry.h"
#include "lua/bind/module.h"

namespace gpubench::lua {
namespace {

using Names = std::span<const std::string>;

bool is_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

// The line that a script is at; empty where it cannot be read again.
std::string current_line(lua_State* L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    const std::string_view source(frame.source, frame.srclen);
    if (frame.currentline <= 0 || source.starts_with(library_prefix)) continue;
    std::string line;
    if (source.starts_with('@')) {
      const std::filesystem::path path(source.substr(1));
      std::error_code none;
      if (!std::filesystem::is_regular_file(path, none)) return {};  // a script chooses what it calls its chunks
      std::ifstream file(path);
      for (int i = 0; i < frame.currentline && std::getline(file, line);) ++i;
      return file ? line : "";
    }
    return source.starts_with('=') || frame.currentline > 1 ? "" : std::string(source);
  }
  return {};
}

// The name and those behind it in the script's line: of `tf.keras.Model { ... }` and "tf", { "tf", "keras", "Model" }.
std::vector<std::string> path_from(lua_State* L, std::string_view name) {
  std::vector<std::string> path{std::string(name)};
  const std::string line = current_line(L);
  for (std::size_t at = line.find(name); at != std::string::npos && !name.empty(); at = line.find(name, at + 1)) {
    std::size_t end = at + name.size();
    if ((at > 0 && is_letter(line[at - 1])) || end + 1 >= line.size() || line[end] != '.') continue;
    while (end + 1 < line.size() && line[end] == '.' && is_letter(line[end + 1])) {
      const std::size_t first = end + 1;
      for (end = first; end < line.size() && is_letter(line[end]);) ++end;
      path.push_back(line.substr(first, end - first));
    }
    break;
  }
  return path;
}

// Pushes a module ("gb.layers"), or a class's "methods" or "getters"; false, and nothing, where there is none.
bool push_members(lua_State* L, std::string_view place, const char* of_class) {
  const int top = lua_gettop(L);
  if (of_class != nullptr) {
    push_class_registry(L);
    lua_pushlstring(L, place.data(), place.size());
    if (lua_rawget(L, -2) == LUA_TTABLE) lua_getfield(L, -1, of_class);
  } else if (place == "gb" || place.starts_with("gb.")) {
    push_root(L);
    for (std::string_view rest = place.substr(std::min<std::size_t>(3, place.size())); !rest.empty();) {
      const std::string_view part = rest.substr(0, rest.find('.'));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
      lua_pushlstring(L, part.data(), part.size());
      if (lua_rawget(L, -2) != LUA_TTABLE) break;
    }
  }
  if (lua_gettop(L) == top || !lua_istable(L, -1)) return lua_settop(L, top), false;
  lua_insert(L, top + 1);
  lua_settop(L, top + 1);
  return true;
}

bool has_member(lua_State* L, std::string_view place, const char* of_class, std::string_view name) {
  if (!push_members(L, place, of_class)) return false;
  lua_pushlstring(L, name.data(), name.size());
  const bool found = lua_rawget(L, -2) != LUA_TNIL;
  lua_pop(L, 2);
  return found;
}

// How a script writes the member of a place, if that has it: "gb.layers.Dense", "x:exp()".
std::optional<std::string> form_at(lua_State* L, std::string_view place, std::string_view name) {
  if (has_member(L, place, nullptr, name)) return fmt::format("{}.{}", place, name);
  if (place != "Tensor") return std::nullopt;
  if (has_member(L, place, "methods", name)) return fmt::format("x:{}()", name);
  if (has_member(L, place, "getters", name)) return fmt::format("x.{}", name);
  return std::nullopt;
}

// The names of a table of gb that scripts see.
std::vector<std::string> names_in(lua_State* L, std::string_view place) {
  std::vector<std::string> names;
  if (!push_members(L, place, nullptr)) return names;
  luaL_checkstack(L, 6, "nested modules");
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    std::string name = Value<std::string>::read(L, -2);
    if (!name.starts_with('_')) names.push_back(std::move(name));
  }
  lua_pop(L, 1);
  std::ranges::sort(names);
  return names;
}

// Appends the forms of a name in a module and those in it.
void find_in(lua_State* L, const std::string& place, std::string_view name, std::vector<std::string>& forms) {
  if (const auto form = form_at(L, place, name)) forms.push_back(*form);
  for (const std::string& inner : names_in(L, place)) find_in(L, place + "." + inner, name, forms);
}

// Where in gb the name stands, for a place that does not have it. Of tensors, only functions of gb itself are near.
std::optional<std::string> elsewhere(lua_State* L, std::string_view place, std::string_view name) {
  if (name.empty() || name.starts_with('_')) return std::nullopt;
  if (place == "Tensor" || place == "SymbolicTensor") return form_at(L, "gb", name);
  if (place == "Dataset") return form_at(L, "gb.data.Dataset", name);
  if (!place.starts_with("gb")) return std::nullopt;
  for (const std::string& one : names_in(L, place))
    if (same_but_for_style(one, name)) return form_at(L, place, one);
  std::vector<std::string> forms;
  find_in(L, "gb", name, forms);
  if (const auto method = form_at(L, "Tensor", name)) forms.push_back(*method);
  if (forms.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(forms, ", or "));
}

std::optional<OtherName> answer_at(lua_State* L, const std::string& place, Names path);

OtherName here(std::string text) {
  return {OtherName::Kind::here, std::move(text), {}};
}

OtherName absent(std::string text) {
  return {OtherName::Kind::absent, std::move(text), {}};
}

// For a path whose first name may be a member of the place.
OtherName resolve(lua_State* L, const std::string& place, Names path) {
  const std::optional<std::string> form = form_at(L, place, path.front());
  if (!form) {
    if (const auto answer = answer_at(L, place, path)) return *answer;
    const std::vector<std::string> names = names_in(L, place);
    return absent(fmt::format("{} has no '{}'{}", place, path.front(), suggestion(path.front(), names_of(names))));
  }
  const bool is_module = path.size() > 1 && push_members(L, *form, nullptr);
  if (!is_module) return here(*form);
  lua_pop(L, 1);
  return resolve(L, *form, path.subspan(1));
}

// A module of another library, whose members stand at several places here. Places that are none of gb are sections of
// the table alone, for members that mean something else than those of gb with their names.
OtherName answer_in(lua_State* L, const OtherName& folder, Names path) {
  std::vector<std::string> places = folder.places();
  const auto first_of_gb = std::stable_partition(places.begin(), places.end(), is_section_alone);
  if (path.size() == 1) return here(fmt::format("its members are in {}", folder.members()));
  const Names rest = path.subspan(1);
  for (auto place = places.begin(); place != first_of_gb; ++place)
    if (find_other_name(*place, rest.front())) return *answer_at(L, *place, rest);
  for (auto place = first_of_gb; place != places.end(); ++place)
    if (form_at(L, *place, rest.front())) return resolve(L, *place, rest);
  for (const bool exactly : {true, false}) {
    for (auto place = first_of_gb; place != places.end(); ++place) {
      const std::optional<OtherName> other = find_other_name(*place, rest.front());
      if (other && (!exactly || other->section == *place)) return *answer_at(L, *place, rest);
    }
  }
  if (const auto other = answer_at(L, "gb", rest)) return *other;
  return absent(fmt::format("{}; others of {} are in {}", rest.front(), path.front(), folder.members()));
}

// For a path whose first name is no member of the place.
std::optional<OtherName> answer_at(lua_State* L, const std::string& place, Names path) {
  std::optional<OtherName> other = find_other_name(place, path.front());
  if (!other) {
    if (auto form = elsewhere(L, place, path.front())) return here(std::move(*form));
    if (place == "gb" || place.starts_with("gb.")) other = find_other_name_within("gb", path.front());
  }
  if (other && other->kind == OtherName::Kind::folder) return answer_in(L, *other, path);
  return other;
}

// What is gpubench's own, where names of other libraries mean nothing.
bool is_own(std::string_view place) {
  constexpr std::string_view modules[] = {"gb.chart", "gb.expect", "gb.format", "gb.measure", "gb.memory"};
  return std::ranges::find(modules, place) != std::end(modules);
}

std::string text_of(const OtherName& answer) {
  return fmt::format("; {}: {}", answer.kind == OtherName::Kind::absent ? "not in gpubench" : "here", answer.text);
}

int no_global(lua_State* L) {
  if (lua_type(L, 2) != LUA_TSTRING) return 0;
  const auto name = Value<std::string>::read(L, 2);
  // Scripts may ask for unset globals in each step.
  static const auto names = other_names_at("global");
  if (!names.contains(name)) return 0;
  const std::vector<std::string> path = path_from(L, name);
  throw Error(fmt::format("no '{}'{}", fmt::join(path, "."), text_of(*answer_at(L, "global", path))));
}

}  // namespace

std::string no_such(lua_State* L, std::string_view what, std::string_view place, std::string_view name,
                    std::span<const std::string_view> known) {
  const std::vector<std::string> path = path_from(L, name);
  const auto answer = is_own(place) ? std::nullopt : answer_at(L, std::string(place), path);
  if (!answer) return fmt::format("{} '{}'{}", what, name, known_names(name, known));
  std::string text = fmt::format("{} '{}'{}", what, name, text_of(*answer));
  if (answer->kind == OtherName::Kind::absent) text += fmt::format(" (known: {})", fmt::join(known, ", "));
  return text;
}

void name_globals(lua_State* L) {
  lua_pushglobaltable(L);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, entry<&no_global>);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

}  // namespace gpubench::lua
