// How rows, facts and charts look in Lua. A Lua table has no order, so columns and fields that come from one are sorted
// by name.
#pragma once
#include <string>
#include <tuple>
#include <vector>

#include "core/report/finish.h"
#include "core/results/info.h"
#include "core/results/record.h"
#include "core/results/run_reader.h"
#include "lua/bind/options.h"
#include "lua/bind/value.h"
#include "lua/bind/variant.h"

namespace gpubench::lua {

/// { column = boolean | number | string }
template <>
struct Value<Record> {
  static std::string expected() { return "table of cells"; }
  static bool matches(lua_State* L, int index) { return lua_istable(L, index); }
  static Record read(lua_State* L, int index);
  static void push(lua_State* L, const Record& record);
};

/// Cells, arrays and named tables, nested. Throws ArgumentError for other values and for tables that contain
/// themselves.
template <>
struct Value<Info> {
  static std::string expected() { return "boolean, number, string or table of these"; }
  static bool matches(lua_State* L, int index) { return lua_istable(L, index) || Value<Cell>::matches(L, index); }
  static Info read(lua_State* L, int index);
  static void push(lua_State* L, const Info& info);
};

/// { name, unit, better }
template <>
struct Value<Column> {
  static void push(lua_State* L, const Column& column);
};

/// { directory, info, columns, rows }
template <>
struct Value<Run> {
  static void push(lua_State* L, const Run& run);
};

/// { directory, experiment, name, title, started, status, rows }
template <>
struct Value<RunSummary> {
  static void push(lua_State* L, const RunSummary& summary);
};

/// { paths, notes }
template <>
struct Value<FinishedRun> {
  static void push(lua_State* L, const FinishedRun& finished);
};

template <>
struct Value<ChartKind> : TextValue<ChartKind, &parse_chart_kind> {};

struct RunOptions {
  std::string experiment;
  std::string title;
  std::vector<std::string> axes;
  std::vector<std::string> columns;
  std::string out = ".";
  static constexpr auto fields = std::tuple{required("experiment", &RunOptions::experiment),
                                            field("title", &RunOptions::title), field("axes", &RunOptions::axes),
                                            field("columns", &RunOptions::columns), field("out", &RunOptions::out)};
};

struct ChartOptions {
  ChartKind kind = ChartKind::line;
  std::string name;
  std::string title;
  std::string x;
  std::string y;
  std::string series;
  Record where;
  double log_x = 0;
  double log_y = 0;
  static constexpr auto fields =
      std::tuple{field("kind", &ChartOptions::kind),   field("name", &ChartOptions::name),
                 field("title", &ChartOptions::title), required("x", &ChartOptions::x),
                 required("y", &ChartOptions::y),      field("series", &ChartOptions::series),
                 field("where", &ChartOptions::where), field("log_x", &ChartOptions::log_x),
                 field("log_y", &ChartOptions::log_y)};
};

struct ExpectationOptions {
  std::string claim;
  std::string verdict;
  std::string reason;
  static constexpr auto fields =
      std::tuple{required("claim", &ExpectationOptions::claim), required("verdict", &ExpectationOptions::verdict),
                 field("reason", &ExpectationOptions::reason)};
};

struct FinishOptions {
  std::string status = "done";
  std::vector<ChartOptions> charts;
  std::vector<ExpectationOptions> expectations;
  static constexpr auto fields =
      std::tuple{field("status", &FinishOptions::status), field("charts", &FinishOptions::charts),
                 field("expectations", &FinishOptions::expectations)};
};

Finish to_finish(FinishOptions options);

}  // namespace gpubench::lua
