// gb.measure.collective: times and bandwidths of collectives by size, as rows of results.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/comm/factory.h"
#include "core/experiment/collectives/collectives.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/api/session.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

template <>
struct Value<CollectiveKind> : TextValue<CollectiveKind, &parse_collective_kind> {};
template <>
struct Value<CrossDevice> : TextValue<CrossDevice, &parse_cross_device> {};
template <>
struct Value<LocalAlgorithm> : TextValue<LocalAlgorithm, &parse_local_algorithm> {};

namespace {

struct CollectiveTable {
  CollectiveKind op = CollectiveKind::all_reduce;
  std::vector<std::size_t> sizes;
  Dtype dtype = Dtype::f32;
  std::optional<std::vector<DeviceId>> devices;
  CrossDevice cross_device = CrossDevice::automatic;
  std::optional<LocalAlgorithm> algorithm;
  std::optional<double> budget;
  static constexpr auto fields = std::tuple{field("op", &CollectiveTable::op),
                                            required("sizes", &CollectiveTable::sizes),
                                            field("dtype", &CollectiveTable::dtype),
                                            field("devices", &CollectiveTable::devices),
                                            field("budget", &CollectiveTable::budget),
                                            field("cross_device", &CollectiveTable::cross_device),
                                            field("algorithm", &CollectiveTable::algorithm)};
};

/// gb.measure.collective { op = , sizes = , dtype = , devices = , cross_device = , algorithm = , budget = }: an array
/// of rows, over all processes.
int collective(lua_State* L) {
  const auto table = Value<CollectiveTable>::read(L, 1);
  Session& session = session_of(L);
  const WorldPtr world = session.placement.world();
  const std::vector<DeviceId> ids = table.devices ? *table.devices : session.placement.devices_of_best_kind();
  std::vector<Device*> devices;
  for (const DeviceId& id : ids) devices.push_back(&world->devices.device(id));
  if (table.algorithm && table.op != CollectiveKind::all_reduce) {
    throw ArgumentError(
        fmt::format("option 'algorithm': an all_reduce has several, {} has one way", to_string(table.op)));
  }
  const auto communicators = make_communicators(devices, table.cross_device, session.group(), table.algorithm);
  std::vector<CollectiveRank> ranks;
  for (std::size_t i = 0; i < devices.size(); ++i) ranks.push_back({devices[i], communicators[i].get()});
  std::vector<CollectiveCase> cases;
  for (const std::size_t bytes : table.sizes) cases.push_back({table.op, table.dtype, bytes});

  if (table.budget && !(*table.budget > 0))
    throw ArgumentError(fmt::format("option 'budget': seconds above 0 are expected, got {}", *table.budget));
  const auto measured =
      measure_collectives(cases, ranks, Seconds(table.budget.value_or(session.budgets.measuring_s())));
  std::vector<std::string> names;
  for (const DeviceId& id : ids) names.push_back(to_string(id));
  lua_createtable(L, static_cast<int>(measured.size()), 0);
  lua_Integer index = 0;
  for (const CollectiveMeasurement& one : measured) {
    Record record = to_record(one, session.budgets.scatter());
    record.set("device", fmt::format("{}", fmt::join(names, "+")));
    Value<Record>::push(L, record);
    Value<std::vector<double>>::push(L, one.samples);
    lua_setfield(L, -2, "samples");
    lua_rawseti(L, -2, ++index);
  }
  return 1;
}

}  // namespace

void open_measure_collective(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("measure").function<&collective, 1>("collective");
}

}  // namespace gpubench::lua
