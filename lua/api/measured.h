// What a measured row carries beside its columns: its step times, the timeline of the steps that were traced, and what
// each replica spent on what.
#pragma once
#include <memory>
#include <vector>

#include "core/experiment/replica_watch.h"
#include "core/telemetry/timeline.h"
#include "lua/bind/object.h"

namespace gpubench::lua {

template <>
inline constexpr const char* class_name<Timeline> = "Timeline";

/// Of the row on top of the stack: `samples`, and `timeline` where there is one.
void set_measured(lua_State* L, const std::vector<double>& samples, const std::shared_ptr<Timeline>& timeline);

/// Of the row on top of the stack: `ranks`, where there are replicas; with their devices alone where times are not
/// known.
void set_ranks(lua_State* L, const std::vector<RankTimes>& ranks);

}  // namespace gpubench::lua
