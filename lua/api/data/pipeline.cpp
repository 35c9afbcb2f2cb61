#include "lua/api/data/pipeline.h"

#include "core/data/epoch_record.h"
#include "core/data/stage/prefetch.h"
#include "core/data/tune/pipeline.h"
#include "core/device/device.h"
#include "lua/api/results_values.h"
#include "lua/api/session.h"
#include "lua/api/tensor/tensor.h"

namespace gpubench::lua {

MapOptions MapTable::native(lua_State* L) const {
  MapOptions options{.workers = num_parallel_calls.value_or(0), .deterministic = deterministic};
  if (device) options.place = place_of(L, *device);
  return options;
}

DevicePlace place_of(lua_State* L, const std::string& name) {
  const WorldPtr& world = session_of(L).placement.world();
  DevicePlace place{std::shared_ptr<const Devices>(world, &world->devices), parse_device_id(name)};
  place.device();  // throws when there is none
  return place;
}

DatasetPtr prefetched_to_device(lua_State* L, const DatasetPtr& source, const std::string& device,
                                std::optional<std::int64_t> buffer) {
  const DevicePlace place = place_of(L, device);
  return buffer ? prefetch_to_device(source, place, *buffer) : prefetch_to_device(source, place);
}

void push_element(lua_State* L, const Element& element) {
  luaL_checkstack(L, static_cast<int>(element.size()), "tensors of an element");
  Dispatcher& dispatcher = world_of(L).dispatcher;
  for (const HostTensor& tensor : element) {
    Value<Tensor>::push(L, element.device == nullptr ? dispatcher.constant(tensor)
                                                     : Tensor(tensor.type(), *element.device, tensor.memory()));
  }
}

DatasetPtr with_options(const DatasetPtr& source, const PipelineTable& options) {
  return gpubench::options(source, {.threads = options.threads,
                                    .ram_budget = options.ram_budget,
                                    .cpu_budget = options.cpu_budget,
                                    .deterministic = options.deterministic});
}

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

int push_statistics(lua_State* L) {
  const auto dataset = Value<DatasetPtr>::read(L, 1);
  push_stages(L, dataset->record()->statistics());
  return 1;
}

}  // namespace gpubench::lua
