// Additional data of a measured row beside its columns: step times, the timeline of traced steps, and each replica's
// times.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/experiment/steps/replica_watch.h"
#include "core/trace/profile.h"
#include "lua/bind/object.h"

namespace gpubench::lua {

template <>
inline constexpr const char* class_name<Timeline> = "Timeline";

/// Sets `samples` of the row on top of the stack, and `timeline` and `profile` if there is one.
void set_measured(lua_State* L, const std::vector<double>& samples, const std::shared_ptr<Timeline>& timeline,
                  const std::optional<StepProfile>& profile = std::nullopt);

/// Pushes the profile as a table, with the field `text` for people.
void push_profile(lua_State* L, const StepProfile& profile);

/// Sets `ranks` of the row on top of the stack if there are replicas. If their times are unknown, they only have their
/// devices.
void set_ranks(lua_State* L, const std::vector<RankTimes>& ranks);

}  // namespace gpubench::lua
