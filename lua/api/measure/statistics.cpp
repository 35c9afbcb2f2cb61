// gb.measure.share_interval, and gb._native.statistics: the median of independent values and its 95 % interval, for the
// library.
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/measure/estimate.h"
#include "core/measure/stats/quantile.h"
#include "lua/api/openers.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// Whole numbers stay whole ones.
void push_number(lua_State* L, double value, bool whole) {
  if (whole && value == std::floor(value))
    lua_pushinteger(L, static_cast<lua_Integer>(value));
  else
    lua_pushnumber(L, value);
}

bool all_whole(lua_State* L, int table) {
  for (lua_Integer i = 1; i <= static_cast<lua_Integer>(lua_rawlen(L, table)); ++i) {
    lua_rawgeti(L, table, i);
    const bool whole = lua_isinteger(L, -1) != 0;
    lua_pop(L, 1);
    if (!whole) return false;
  }
  return true;
}

/// estimate(values): { value, low, high }, without low and high for fewer than least_for_interval values, at least one.
int estimate(lua_State* L) {
  const auto values = Value<std::vector<double>>::read(L, 1);
  if (values.empty()) throw ArgumentError("no values");
  const bool whole = all_whole(L, 1);
  const std::optional<Estimate> one = estimate_independent(values);
  lua_createtable(L, 0, 3);
  push_number(L, one ? one->value : median(values), whole);
  lua_setfield(L, -2, "value");
  if (!one) return 1;
  push_number(L, one->interval.low, whole);
  lua_setfield(L, -2, "low");
  push_number(L, one->interval.high, whole);
  lua_setfield(L, -2, "high");
  return 1;
}

/// gb.measure.share_interval(share, count): low, high
std::tuple<double, double> interval_of_share(double share, double count) {
  if (!(share >= 0 && share <= 1))
    throw ArgumentError(fmt::format("the share lies between 0 and 1, got {:.6g}", share));
  if (!(count >= 1)) throw ArgumentError(fmt::format("the count is at least 1, got {:.6g}", count));
  const Interval interval = share_interval(share, count);
  return {interval.low, interval.high};
}

}  // namespace

void open_statistics(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("measure").function<&interval_of_share>("share_interval");
  const Module native = gb.submodule("_native");
  const Module statistics = native.submodule("statistics");
  statistics.function<&estimate, 1>("estimate");
  statistics.value("least_for_interval", static_cast<std::int64_t>(least_for_interval));
}

}  // namespace gpubench::lua
