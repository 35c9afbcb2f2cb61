// gb._native.results: runs for the experiment library, and the calls of `run` that they are made of. Every run gets the
// machine's facts at its start and the process's own figures at its end, so no script can forget them.
#include "core/run/live_run.h"

#include <fmt/format.h>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/results/run_directory.h"
#include "lua/api/openers.h"
#include "lua/api/output_path.h"
#include "lua/api/results/measured.h"
#include "lua/api/results_values.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

template <>
inline constexpr const char* class_name<LiveRun> = "Run";
template <>
inline constexpr const char* class_name<PointCall> = "PointCall";

struct FinalPointOptions : FinalPoint {
  static constexpr auto fields =
      std::tuple{required("point", &FinalPoint::point), field("too_long", &FinalPoint::too_long)};
};

template <>
struct Value<FinishedPoint> {
  static void push(lua_State* L, const FinishedPoint& point) {
    lua_createtable(L, 0, 2);
    Value<std::vector<Record>>::push(L, point.rows);
    lua_setfield(L, -2, "rows");
    lua_pushnumber(L, point.lost_share);
    lua_setfield(L, -2, "lost_share");
  }
};

template <>
struct Value<RowOfRound> {
  static void push(lua_State* L, const RowOfRound& one) {
    lua_createtable(L, 0, 2);
    Value<Record>::push(L, one.row);
    lua_setfield(L, -2, "row");
    lua_pushboolean(L, one.counts);
    lua_setfield(L, -2, "counts");
  }
};

template <>
struct Value<JudgedRow> {
  static void push(lua_State* L, const JudgedRow& judged) {
    lua_createtable(L, 0, 3);
    Value<Record>::push(L, judged.row);
    lua_setfield(L, -2, "row");
    Value<std::vector<RowOfRound>>::push(L, judged.rounds);
    lua_setfield(L, -2, "rounds");
    lua_pushboolean(L, judged.is_busy);
    lua_setfield(L, -2, "busy");
  }
};

namespace {

/// run:take(call, point, planned, seconds): how many rounds of the point nothing disturbed, and the rows that say why
/// it is not measured any more.
std::tuple<std::int64_t, std::vector<Record>> take_call(LiveRun& run, const PointCall& call, std::int64_t point,
                                                        std::int64_t planned, double seconds) {
  const PointRounds& rounds = run.take(call, point, planned, seconds);
  return {rounds.calm(), rounds.failed()};
}

std::vector<FinishedPoint> finish_points(LiveRun& run, std::int64_t planned,
                                         const std::vector<FinalPointOptions>& points) {
  return run.finish_points(planned, {points.begin(), points.end()});
}

void set_info(LiveRun& run, const Info& fields) {
  if (!fields.fields()) throw ArgumentError("table with named fields expected");
  run.set_info(fields);
}

FinishedRun finish(LiveRun& run, const FinishOptions& options) {
  return run.finish(options.status, {options.charts.begin(), options.charts.end()},
                    {options.expectations.begin(), options.expectations.end()});
}

std::string opening(LiveRun& run, const TextOptions& style) {
  return run.opening(style);
}

std::string closing(LiveRun& run, const TextOptions& style) {
  return run.closing(style);
}

std::shared_ptr<LiveRun> new_run(lua_State* L, RunOptions options) {
  for (const std::filesystem::path& root : {results_root(options.out), plots_root(options.out)})
    output_path(L, (root / options.experiment).string(), "results");
  const RunPlan plan{.experiment = std::move(options.experiment),
                     .title = std::move(options.title),
                     .axes = std::move(options.axes),
                     .extra_columns = {options.columns.begin(), options.columns.end()},
                     .out = std::move(options.out),
                     .script = session_of(L).options().script_text};
  const std::vector<ChartSpec> charts(options.charts.begin(), options.charts.end());
  return std::make_shared<LiveRun>(
      plan, options.figures, charts, std::vector<Expectation>(options.claims.begin(), options.claims.end()),
      std::move(options.chart_formats), session_of(L).group(), session_of(L).unfinished_runs);
}

/// end_abandoned(directory, detail): ends the record of a run whose own process is lost.
bool end_abandoned(lua_State* L, const std::string& directory, const std::string& detail) {
  return end_abandoned_run(output_path(L, directory, "results"), detail);
}

template <class T>
T returned(lua_State* L, int index, const char* what) {
  try {
    if (!Value<T>::matches(L, index)) mismatch(L, index, Value<T>::expected());
    return Value<T>::read(L, index);
  } catch (const ArgumentError& error) {
    throw Error(fmt::format("run returned {}: {}", what, error.what()));
  }
}

template <class T>
std::optional<T> returned_field(lua_State* L, const char* name, const char* what) {
  std::optional<T> value;
  if (lua_getfield(L, -1, name) != LUA_TNIL) value = returned<T>(L, -1, what);
  lua_pop(L, 1);
  return value;
}

/// call({ { row, samples, timeline, profile }, ... }, axes): what a call of run returned, at the point with these axes.
/// Throws for cells that files cannot have or that the program's columns do not take.
int new_call(lua_State* L) {
  if (!lua_istable(L, 1)) mismatch(L, 1, "array of rows");
  std::vector<MeasuredRow> rows;
  for (lua_Integer index = 1; lua_rawgeti(L, 1, index) == LUA_TTABLE; ++index, lua_pop(L, 1)) {
    rows.push_back({returned_field<Record>(L, "row", "a column that is no cell").value_or(Record()),
                    returned_field<std::vector<double>>(L, "samples", "samples that are no step times")
                        .value_or(std::vector<double>()),
                    returned_field<std::shared_ptr<Timeline>>(L, "timeline", "a timeline that gb.measure has not made")
                        .value_or(nullptr),
                    returned_field<Info>(L, "profile", "a profile that gb.measure has not made")});
  }
  Value<PointCall>::push(L, PointCall(std::move(rows), Value<Record>::read(L, 2)));
  return 1;
}

/// call:agree(status, detail): with the other processes of the run, if there are some.
std::string agree_on_call(lua_State* L, PointCall& call, const std::string& status,
                          const std::optional<std::string>& detail) {
  ProcessGroup* const group = session_of(L).group();
  return group == nullptr ? status : call.agree(*group, status, detail);
}

}  // namespace

void open_live_runs(lua_State* L) {
  Class<LiveRun>(L)
      .method<&LiveRun::begin>("begin")
      .method<&take_call>("take")
      .method<&finish_points>("finish_points")
      .method<&set_info>("set_info")
      .method<&finish>("finish")
      .method<&LiveRun::directory>("directory")
      .method<&LiveRun::name>("name")
      .method<&LiveRun::rows>("rows")
      .method<&LiveRun::judged_rows>("judged_rows")
      .method<&opening>("opening")
      .method<&LiveRun::point_text>("point_text")
      .method<&closing>("closing");
  Class<PointCall>(L)
      .method<&PointCall::set_conditions>("set_conditions")
      .method<&PointCall::fail>("fail")
      .method<&agree_on_call>("agree")
      .method<&PointCall::rows>("rows");
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module results = native.submodule("results");
  results.function<&new_run>("new_run").function<&new_call, 2>("call").function<&end_abandoned>("end_abandoned");
}

}  // namespace gpubench::lua
