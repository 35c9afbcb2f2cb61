// The common options of all measurements of steps.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "core/experiment/steps/step_measurement.h"
#include "lua/api/session.h"
#include "lua/bind/options.h"
#include "lua/bind/variant.h"

namespace gpubench::lua {

/// Seconds, except relative_error: half-width of the median's interval at which measuring may end.
struct MeasureTable {
  std::optional<double> budget, min_time, warmup, relative_error;
  std::optional<bool> trace;  ///< a few more steps to show where the time went; true keeps their timeline
  static constexpr auto fields =
      std::tuple{field("budget", &MeasureTable::budget), field("min_time", &MeasureTable::min_time),
                 field("warmup", &MeasureTable::warmup), field("relative_error", &MeasureTable::relative_error),
                 field("trace", &MeasureTable::trace)};

  /// Absent options come from the command line (--budget, --quick). Called before measuring: it frees what the script
  /// has dropped until now, which would else cost the measured steps their time.
  StepLimits limits(lua_State* L) const {
    lua_gc(L, LUA_GCCOLLECT);
    Session& from = session_of(L);
    constexpr double quick_share = 0.25;  // times of a measurement with --quick, relative to the ordinary ones
    StepLimits limits;
    limits.stopping.activity = &from.activity;
    limits.stopping.budget = Seconds(budget.value_or(from.budget_s()));
    const double share = from.options().quick ? quick_share : 1;
    const bool in_rounds = from.scatter() == Scatter::of_rounds;
    limits.stopping.min_time = Seconds(min_time.value_or(limits.stopping.min_time.count() * share));
    // Without an explicit min_time, a short budget may reduce the default.
    const bool may_cut = !min_time && limits.stopping.budget.count() > 0;
    const Seconds longest_minimum = limits.stopping.budget / (in_rounds ? 2 : 1);
    if (may_cut) limits.stopping.min_time = std::min(limits.stopping.min_time, longest_minimum);
    // What one round's steps have not settled to shows as scatter of the rounds.
    constexpr double warmup_share_of_round = 0.25;
    if (in_rounds) limits.warmup.window_time *= warmup_share_of_round;
    const double warmup_share = in_rounds ? share * warmup_share_of_round : share;
    limits.warmup.max_time = Seconds(warmup.value_or(limits.warmup.max_time.count() * warmup_share));
    if (relative_error) limits.stopping.relative_error = *relative_error;
    limits.scatter = from.scatter();
    limits.trace.keep_timeline = trace.value_or(false);
    if (trace.value_or(true)) limits.trace.new_tracer = &Devices::new_tracer;
    if (ProcessGroup* const group = from.group(); group != nullptr && group->size() > 1) {
      limits.agreement = [group](std::int64_t said) { return std::stoll(group->broadcast(std::to_string(said), 0)); };
    }
    return limits;
  }
};

/// The options of a measurement whose steps belong to layers and ops.
struct ProfiledTable : MeasureTable {
  bool profile = false;  ///< the time and memory of the traced steps by layer and op
  static constexpr auto fields =
      std::tuple_cat(MeasureTable::fields, std::tuple{field("profile", &ProfiledTable::profile)});

  StepLimits limits(lua_State* L) const {
    if (profile && !trace.value_or(true))
      throw ArgumentError("option 'profile': it needs a trace; leave trace = false out");
    StepLimits limits = MeasureTable::limits(L);
    limits.trace.profiles = profile;
    return limits;
  }
};

}  // namespace gpubench::lua
