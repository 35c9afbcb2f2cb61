#include "lua/api/results/measured.h"

#include "core/results/profile_info.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

void set_measured(lua_State* L, const std::vector<double>& samples, const std::shared_ptr<Timeline>& timeline,
                  const std::optional<StepProfile>& profile) {
  Value<std::vector<double>>::push(L, samples);
  lua_setfield(L, -2, "samples");
  if (profile) {
    push_profile(L, *profile);
    lua_setfield(L, -2, "profile");
  }
  if (timeline == nullptr) return;
  Value<std::shared_ptr<Timeline>>::push(L, timeline);
  lua_setfield(L, -2, "timeline");
}

void push_profile(lua_State* L, const StepProfile& profile) {
  Info info = profile_info(profile);
  info.set("text", profile_text(info));
  Value<Info>::push(L, info);
}

void set_ranks(lua_State* L, const std::vector<RankTimes>& ranks) {
  if (ranks.empty()) return;
  lua_createtable(L, static_cast<int>(ranks.size()), 0);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankTimes& rank = ranks[i];
    constexpr int fields = 5;
    lua_createtable(L, 0, fields);
    const auto set = [&](const char* name, const auto& value) {
      Value<std::decay_t<decltype(value)>>::push(L, value);
      lua_setfield(L, -2, name);
    };
    set("device", rank.device);
    if (rank.timed) {
      set("own_s", rank.own);
      set("peer_wait_s", rank.peer_wait);
      set("exposed_exchange_s", rank.exposed);
      set("exchange_s", rank.exchange);
    }
    lua_rawseti(L, -2, static_cast<lua_Integer>(i + 1));
  }
  lua_setfield(L, -2, "ranks");
}

void open_measured(lua_State* L) {
  Class<Timeline>{L};
}

}  // namespace gpubench::lua
