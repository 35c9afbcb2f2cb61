#include "lua/api/results_values.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace gpubench::lua {
namespace {

// A table that contains itself would otherwise never end.
constexpr int deepest = 32;

struct StackDepth {
  explicit StackDepth(int& value) : depth(value) {
    if (++depth > deepest) {
      --depth;
      throw ArgumentError("tables are nested more than " + std::to_string(deepest) + " deep");
    }
  }
  StackDepth(const StackDepth&) = delete;
  StackDepth& operator=(const StackDepth&) = delete;
  ~StackDepth() { --depth; }
  int& depth;
};

bool is_array(lua_State* L, int index) {
  return lua_rawlen(L, index) > 0;
}

Info read_info(lua_State* L, int index, int& depth);

Info read_array(lua_State* L, int index, int& depth) {
  Info::List list;
  const std::size_t length = sequence_length(L, index);
  for (std::size_t k = 1; k <= length; ++k) {
    lua_rawgeti(L, index, static_cast<lua_Integer>(k));
    list.push_back(read_info(L, lua_gettop(L), depth));
    lua_pop(L, 1);
  }
  return list;
}

Info read_fields(lua_State* L, int index, int& depth) {
  Info::Fields fields;
  lua_pushnil(L);
  while (lua_next(L, index)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      throw ArgumentError("a table has names and positions; give it one or the other");
    std::string name = Value<std::string>::read(L, -2);
    try {
      fields.emplace_back(name, read_info(L, lua_gettop(L), depth));
    } catch (const ArgumentError& error) {
      throw ArgumentError("'" + name + "': " + error.what());
    }
    lua_pop(L, 1);
  }
  std::ranges::sort(fields, {}, &std::pair<std::string, Info>::first);
  return fields;
}

Info read_info(lua_State* L, int index, int& depth) {
  if (!lua_istable(L, index)) {
    if (!Value<Cell>::matches(L, index)) mismatch(L, index, Value<Info>::expected());
    return Value<Cell>::read(L, index);
  }
  const StackDepth level(depth);
  luaL_checkstack(L, 4, "nested tables");
  return is_array(L, index) ? read_array(L, index, depth) : read_fields(L, index, depth);
}

template <class T>
void set_field(lua_State* L, const char* name, const T& value) {
  Value<T>::push(L, value);
  lua_setfield(L, -2, name);
}

template <class T>
void push_list(lua_State* L, const std::vector<T>& values) {
  luaL_checkstack(L, 4, "nested tables");
  lua_createtable(L, static_cast<int>(values.size()), 0);
  for (std::size_t k = 0; k < values.size(); ++k) {
    Value<T>::push(L, values[k]);
    lua_rawseti(L, -2, static_cast<lua_Integer>(k + 1));
  }
}

}  // namespace

Record Value<Record>::read(lua_State* L, int index) {
  auto cells = Value<std::map<std::string, Cell>>::read(L, index);
  return Record(std::vector<std::pair<std::string, Cell>>(std::make_move_iterator(cells.begin()),
                                                          std::make_move_iterator(cells.end())));
}

void Value<Record>::push(lua_State* L, const Record& record) {
  lua_newtable(L);
  for (const auto& [name, cell] : record.cells()) set_field(L, name.c_str(), cell);
}

Info Value<Info>::read(lua_State* L, int index) {
  int depth = 0;
  return read_info(L, lua_absindex(L, index), depth);
}

void Value<Info>::push(lua_State* L, const Info& info) {
  luaL_checkstack(L, 4, "nested tables");
  if (const auto* list = info.list()) return push_list(L, *list);
  if (const auto* fields = info.fields()) {
    lua_newtable(L);
    for (const auto& [name, value] : *fields) set_field(L, name.c_str(), value);
    return;
  }
  Value<Cell>::push(L, *info.cell());
}

void Value<Column>::push(lua_State* L, const Column& column) {
  lua_newtable(L);
  set_field(L, "name", column.name);
  set_field(L, "unit", std::string(to_string(column.unit)));
  set_field(L, "better", std::string(to_string(column.better)));
  set_field(L, "kind", std::string(to_string(column.kind)));
  set_field(L, "declared", !column.description.empty());
  if (column.threshold > 0) set_field(L, "threshold", column.threshold);
}

void Value<Run>::push(lua_State* L, const Run& run) {
  lua_newtable(L);
  set_field(L, "directory", run.directory.string());
  set_field(L, "info", run.info);
  push_list(L, run.columns);
  lua_setfield(L, -2, "columns");
  push_list(L, run.records);
  lua_setfield(L, -2, "rows");
}

void Value<RunSummary>::push(lua_State* L, const RunSummary& summary) {
  lua_newtable(L);
  set_field(L, "directory", summary.directory.string());
  set_field(L, "experiment", summary.experiment);
  set_field(L, "name", summary.name);
  set_field(L, "title", summary.title);
  set_field(L, "started", summary.started);
  set_field(L, "status", summary.status);
  set_field(L, "damage", summary.damage);
  set_field(L, "rows", summary.rows);
}

void Value<FinishedRun>::push(lua_State* L, const FinishedRun& finished) {
  lua_newtable(L);
  set_field(L, "report", finished.report.string());
  set_field(L, "notes", finished.notes);
}

}  // namespace gpubench::lua
