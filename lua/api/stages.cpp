#include "lua/api/stages.h"

#include <string>

#include "lua/api/results_values.h"

namespace gpubench::lua {

void push_stages(lua_State* L, const std::vector<StageStatistics>& stages) {
  std::vector<Info> rows;
  for (const StageStatistics& stage : stages) {
    rows.emplace_back(Info::Fields{{"stage", Info(std::string(stage.stage))},
                                   {"elements", Info(stage.produced)},
                                   {"bytes", Info(stage.bytes)},
                                   {"errors", Info(stage.errors)},
                                   {"busy_s", Info(stage.busy.count())},
                                   {"starved_s", Info(stage.starved.count())},
                                   {"blocked_s", Info(stage.blocked.count())},
                                   {"workers", Info(static_cast<std::int64_t>(stage.workers))},
                                   {"buffered", Info(stage.buffered)},
                                   {"buffer", Info(stage.capacity)},
                                   {"why", Info(stage.why)}});
  }
  Value<Info>::push(L, Info(std::move(rows)));
}

}  // namespace gpubench::lua
