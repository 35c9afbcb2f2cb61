// Rows, facts and charts as Lua values. Lua tables have no order, so columns and fields from a table are sorted by
// name.
#pragma once
#include <string>
#include <tuple>
#include <vector>

#include "core/report/page/finish.h"
#include "core/report/text/render.h"
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

/// Cells, arrays and named tables, nested. Throws ArgumentError for other values and for recursive tables.
template <>
struct Value<Info> {
  static std::string expected() { return "boolean, number, string or table of these"; }
  static bool matches(lua_State* L, int index) { return lua_istable(L, index) || Value<Cell>::matches(L, index); }
  static Info read(lua_State* L, int index);
  static void push(lua_State* L, const Info& info);
};

/// { name, unit, better, kind, declared = whether the program itself fills it }
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

/// { report, notes }
template <>
struct Value<FinishedRun> {
  static void push(lua_State* L, const FinishedRun& finished);
};

template <>
struct Value<Unit> : TextValue<Unit, &parse_unit> {};
template <>
struct Value<Better> : TextValue<Better, &parse_better> {};
template <>
struct Value<Kind> : TextValue<Kind, &parse_kind> {};
template <>
struct Value<ChartKind> : TextValue<ChartKind, &parse_chart_kind> {};
template <>
struct Value<ChartFormat> : TextValue<ChartFormat, &parse_chart_format> {};

struct ChartOptions : ChartSpec {
  static constexpr auto fields = std::tuple{
      field("kind", &ChartSpec::kind),   field("name", &ChartSpec::name),   field("title", &ChartSpec::title),
      field("x", &ChartSpec::x),         field("y", &ChartSpec::y),         field("series", &ChartSpec::series),
      field("where", &ChartSpec::where), field("log_x", &ChartSpec::log_x), field("log_y", &ChartSpec::log_y),
      field("each", &ChartSpec::each),   field("order", &ChartSpec::order), field("limits", &ChartSpec::limits),
      field("knees", &ChartSpec::knees)};
};

/// A column of a script: its name, or a table with what the name does not say.
struct ColumnOptions : Column {
  static constexpr auto fields =
      std::tuple{required("name", &Column::name), field("unit", &Column::unit), field("better", &Column::better),
                 field("kind", &Column::kind), field("threshold", &Column::threshold)};
};

struct ExpectationOptions : Expectation {
  static constexpr auto fields = std::tuple{
      field("id", &Expectation::id), required("claim", &Expectation::claim), field("verdict", &Expectation::verdict),
      field("reason", &Expectation::reason), field("answer", &Expectation::answer)};
};

struct RunOptions {
  std::string experiment;
  std::string title;
  std::vector<std::string> axes;
  std::vector<ColumnOptions> columns;
  std::string out = ".";
  std::vector<ChartOptions> charts;
  std::vector<ExpectationOptions> claims;
  std::vector<std::string> figures;
  ChartFormats chart_formats;
  static constexpr auto fields = std::tuple{required("experiment", &RunOptions::experiment),
                                            field("title", &RunOptions::title),
                                            field("axes", &RunOptions::axes),
                                            field("columns", &RunOptions::columns),
                                            field("out", &RunOptions::out),
                                            field("charts", &RunOptions::charts),
                                            field("claims", &RunOptions::claims),
                                            field("figures", &RunOptions::figures),
                                            field("chart_formats", &RunOptions::chart_formats)};
};

struct TextOptions : TextStyle {
  static constexpr auto fields =
      std::tuple{field("width", &TextStyle::width), field("color", &TextStyle::color),
                 field("all_columns", &TextStyle::all_columns), field("failures_told", &TextStyle::failures_told)};
};

struct FinishOptions {
  std::string status = "done";
  std::vector<ChartOptions> charts;
  std::vector<ExpectationOptions> expectations;
  static constexpr auto fields =
      std::tuple{field("status", &FinishOptions::status), field("charts", &FinishOptions::charts),
                 field("expectations", &FinishOptions::expectations)};
};

}  // namespace gpubench::lua
