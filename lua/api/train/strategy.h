// Strategies for scripts, and their results: one value per replica.
#pragma once
#include <memory>
#include <vector>

#include "core/data/dataset.h"
#include "core/exec/replicas.h"
#include "lua/api/session.h"
#include "lua/api/tensor/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

class ReplicatedFunctions;

/// Replicas, their World, and the functions that they have run.
struct ScriptStrategy {
  ScriptStrategy(WorldPtr in, ReplicaOptions options, ProcessGroup* group);
  ~ScriptStrategy();
  WorldPtr world;
  ReplicasPtr replicas;
  std::unique_ptr<ReplicatedFunctions> functions;
};
template <>
inline constexpr const char* class_name<ScriptStrategy> = "Strategy";

/// The results of a function on each replica of this process, and each replica's rows of the batch.
struct PerReplica {
  WorldPtr world;
  ProcessGroup* group = nullptr;
  std::vector<Tensor> values;
  std::vector<BatchShare> shares;
};
template <>
inline constexpr const char* class_name<PerReplica> = "PerReplica";

/// This process's part of a dataset for a model with `replicas` (may be null). The whole dataset if the process is
/// alone or the script has distributed it.
DatasetPtr part_of_process(const Replicas* replicas, const DatasetPtr& dataset);

/// strategy:run(fn, ...), strategy:reduce(operation, value, axis).
int run_replicas(lua_State* L);
Tensor reduce_replicas(lua_State* L, const std::shared_ptr<ScriptStrategy>& strategy, const std::string& operation,
                       const std::shared_ptr<PerReplica>& value, std::optional<std::int64_t> axis);

}  // namespace gpubench::lua
