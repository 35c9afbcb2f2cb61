// What a measured row carries beside its columns: its step times, and the timeline of the steps that were traced.
#pragma once
#include <memory>
#include <vector>

#include "core/telemetry/timeline.h"
#include "lua/bind/object.h"

namespace gpubench::lua {

template <>
inline constexpr const char* class_name<Timeline> = "Timeline";

/// Of the row on top of the stack: `samples`, and `timeline` where there is one.
void set_measured(lua_State* L, const std::vector<double>& samples, const std::shared_ptr<Timeline>& timeline);

}  // namespace gpubench::lua
