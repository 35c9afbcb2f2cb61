// gb.distribute: strategies, in whose scope models are trained by replicas on several devices.
#include "core/data/stage/distribute.h"

#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/base/value_scope.h"
#include "core/comm/factory.h"
#include "core/experiment/steps/replica_watch.h"
#include "lua/api/data/dataset.h"
#include "lua/api/openers.h"
#include "lua/api/train/strategy.h"
#include "lua/api/types.h"

namespace gpubench::lua {
namespace {

struct StrategyTable {
  std::optional<std::vector<DeviceId>> devices;
  std::string cross_device = "automatic";
  std::int64_t bucket_bytes = static_cast<std::int64_t>(default_bucket_bytes);
  std::optional<Dtype> compression;
  std::vector<double> shares, delays;
  static constexpr auto fields = std::tuple{field("devices", &StrategyTable::devices),
                                            field("cross_device", &StrategyTable::cross_device),
                                            field("bucket_bytes", &StrategyTable::bucket_bytes),
                                            field("compression", &StrategyTable::compression),
                                            field("shares", &StrategyTable::shares),
                                            field("delays", &StrategyTable::delays)};
};

ReplicaOptions options_of(const StrategyTable& table, Session& session) {
  if (table.bucket_bytes < 1) {
    throw ArgumentError(fmt::format("option 'bucket_bytes': at least 1 is expected, got {}", table.bucket_bytes));
  }
  if (table.compression && *table.compression != Dtype::f16 && *table.compression != Dtype::bf16) {
    throw ArgumentError(fmt::format("option 'compression': 'float16' or 'bfloat16' is expected, got '{}'",
                                    to_string(*table.compression)));
  }
  ReplicaOptions options;
  options.devices = table.devices ? *table.devices : session.placement.devices_of_best_kind();
  options.cross_device = parse_cross_device(table.cross_device);
  options.bucket_bytes = static_cast<std::size_t>(table.bucket_bytes);
  options.compression = table.compression;
  options.shares = table.shares;
  for (const double delay : table.delays) options.delays.emplace_back(delay);
  return options;
}

/// gb.distribute.MirroredStrategy { devices = , ... }
std::shared_ptr<ScriptStrategy> mirrored_strategy(lua_State* L, const StrategyTable& table) {
  const WorldPtr& world = session_of(L).placement.world();
  return std::make_shared<ScriptStrategy>(world, options_of(table, session_of(L)), nullptr);
}

/// gb.distribute.MultiWorkerMirroredStrategy { ... }: over all processes; a collective call.
std::shared_ptr<ScriptStrategy> multi_worker_strategy(lua_State* L, const StrategyTable& table) {
  const WorldPtr& world = session_of(L).placement.world();
  return std::make_shared<ScriptStrategy>(world, options_of(table, session_of(L)), session_of(L).group());
}

struct DistributeTable {
  std::string shard = "auto", batch = "global";
  static constexpr auto fields =
      std::tuple{field("shard", &DistributeTable::shard), field("batch", &DistributeTable::batch)};
};

/// strategy:distribute(dataset, { shard = , batch = }): this process's part.
DatasetPtr distributed(const ScriptStrategy& self, const DatasetPtr& dataset, const DistributeTable& table) {
  DistributeOptions options;
  options.shard = parse_sharding(table.shard);
  options.batch = parse_batch_of(table.batch);
  options.replicas = self.replicas->size();
  if (const ProcessGroup* const group = self.replicas->group()) {
    options.processes = group->size();
    options.rank = group->rank();
  }
  DatasetPtr part = distribute(dataset, options);
  part->mark_distributed();
  return part;
}

/// strategy:scope(fn): what fn returns.
int scope(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptStrategy>>::read(L, 1);
  Value<LuaFunction>::read(L, 2);
  const WorldPtr world = session_of(L).placement.world();
  const DeviceScope device(world->dispatcher, self->replicas->device(0));
  const ValueScope replicas(world->replicas, self->replicas);
  lua_settop(L, 2);
  protected_call(L, 0, LUA_MULTRET);
  return lua_gettop(L) - 1;
}

std::int64_t num_replicas_in_sync(const ScriptStrategy& self) {
  return self.replicas->world_size();
}

std::vector<DeviceId> devices_of(const ScriptStrategy& self) {
  return self.replicas->options().devices;
}

std::string communicator(const ScriptStrategy& self) {
  return std::string(self.replicas->communicator(0).name());
}

std::string strategy_text(const ScriptStrategy& self) {
  return fmt::format("Strategy of {} replica{}", self.replicas->world_size(),
                     self.replicas->world_size() == 1 ? "" : "s");
}

/// A rank of a row that gb.measure.training gave; other fields are for people.
struct RankTable {
  std::optional<double> own_s;
  std::string device;
  double peer_wait_s = 0, exposed_exchange_s = 0, exchange_s = 0;
  static constexpr auto fields = std::tuple{field("own_s", &RankTable::own_s), field("device", &RankTable::device),
                                            field("peer_wait_s", &RankTable::peer_wait_s),
                                            field("exposed_exchange_s", &RankTable::exposed_exchange_s),
                                            field("exchange_s", &RankTable::exchange_s)};
};

/// gb.distribute.balanced_shares(row.ranks, shares): shares that would take all replicas equally long.
int shares_in_balance(lua_State* L) {
  const auto ranks = Value<std::vector<RankTable>>::read(L, 1);
  if (ranks.empty()) throw ArgumentError("the ranks of a row of gb.measure.training are expected, got none");
  std::vector<double> times;
  for (const RankTable& rank : ranks) {
    if (!rank.own_s) {
      throw ArgumentError(fmt::format(
          "own_s of rank {} is missing; where the times of replicas are not known, the row's detail says why",
          times.size()));
    }
    if (!(*rank.own_s > 0)) throw ArgumentError(fmt::format("own_s: times above 0 are expected, got {}", *rank.own_s));
    times.push_back(*rank.own_s);
  }
  std::vector<double> parts(times.size(), 1);
  if (!lua_isnoneornil(L, 2)) parts = Value<std::vector<double>>::read(L, 2);
  if (parts.size() != times.size()) {
    throw ArgumentError(fmt::format("{} shares are given for {} ranks", parts.size(), times.size()));
  }
  for (const double part : parts) {
    if (!(part > 0) || !std::isfinite(part))
      throw ArgumentError(fmt::format("shares: numbers above 0 are expected, got {}", part));
  }
  Value<std::vector<double>>::push(L, balanced_shares(times, parts));
  return 1;
}

std::vector<Tensor> values(const PerReplica& self) {
  return self.values;
}

std::string per_replica_text(const PerReplica& self) {
  return fmt::format("PerReplica of {} x {}", self.values.size(), to_string(self.values[0].type()));
}

}  // namespace

DatasetPtr part_of_process(const Replicas* replicas, const DatasetPtr& dataset) {
  const ProcessGroup* const group = replicas == nullptr ? nullptr : replicas->group();
  if (group == nullptr || dataset->is_distributed()) return dataset;
  return distribute(dataset, {.processes = group->size(), .rank = group->rank(), .replicas = replicas->size()});
}

void open_distribute(lua_State* L) {
  Class<ScriptStrategy>(L)
      .method<&scope, 1>("scope")
      .method<&distributed>("distribute")
      .method<&run_replicas, any_number>("run")
      .method<&reduce_replicas>("reduce")
      .property<&num_replicas_in_sync>("num_replicas_in_sync")
      .property<&devices_of>("devices")
      .property<&communicator>("communicator")
      .meta<&strategy_text>("__tostring");
  Class<PerReplica>(L).property<&values>("values").meta<&per_replica_text>("__tostring");
  const Module gb = Module::root(L);
  gb.submodule("distribute")
      .function<&mirrored_strategy>("MirroredStrategy")
      .function<&multi_worker_strategy>("MultiWorkerMirroredStrategy")
      .function<&shares_in_balance, 2>("balanced_shares");
}

}  // namespace gpubench::lua
