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

/// Sets `samples` of the row on top of the stack, and `timeline` where there is one.
void set_measured(lua_State* L, const std::vector<double>& samples, const std::shared_ptr<Timeline>& timeline);

/// Sets `ranks` of the row on top of the stack where there are replicas. Where their times are not known, they have
/// their devices only.
void set_ranks(lua_State* L, const std::vector<RankTimes>& ranks);

}  // namespace gpubench::lua
