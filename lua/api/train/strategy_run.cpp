// strategy:run traces a function once for each replica's share of a batch and runs the plans side by side; what it
// returns is reduced to one value by strategy:reduce.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <optional>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/device/device.h"
#include "core/exec/plan_cache.h"
#include "core/exec/replicated_executor.h"
#include "core/graph/exchange_ops.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/state.h"
#include "core/train/exchange.h"
#include "lua/api/tensor/trace.h"
#include "lua/api/train/layers.h"
#include "lua/api/train/strategy.h"

namespace gpubench::lua {
namespace {

/// Functions that are defined anew in every step would be traced in every step.
constexpr std::size_t most_functions = 32;

/// An argument of a replicated function: one tensor for all, cut into rows, or one of each replica.
struct Argument {
  std::vector<HostTensor> values{};  ///< one, or by replica
  bool rows = false;                 ///< each replica takes its rows of the one
  std::vector<BatchShare> shares{};  ///< of values by replica: the rows that they come from
};

/// The parameters of a plan.
struct CallKey {
  std::vector<TensorType> types;  ///< of all replicas' arguments
  std::vector<BatchShare> shares;
  bool operator==(const CallKey&) const = default;
};

HostTensor rows_of(const HostTensor& whole, const BatchShare& share, std::int64_t first) {
  return whole.rows(share.first - first, share.first - first + share.rows);
}

/// The exchanges of a replica's graph, in order.
std::vector<std::string> exchanges_of(const Graph& graph) {
  std::vector<std::string> exchanges;
  for (const Node& node : graph.nodes()) {
    if (op_as<ExchangeOp>(node) == nullptr) continue;
    exchanges.push_back(fmt::format("{} {}", node.label, to_string(node.outputs[0])));
  }
  return exchanges;
}

void require_equal_exchanges(const Graph& first, const Graph& other, std::size_t replica) {
  const std::vector<std::string> expected = exchanges_of(first), own = exchanges_of(other);
  if (expected == own) return;
  const auto text = [](const std::vector<std::string>& names) {
    return names.empty() ? std::string("nothing") : fmt::format("{}", fmt::join(names, ", "));
  };
  throw Error(
      fmt::format("strategy:run: the function has to exchange the same on every replica, whatever its rows; on "
                  "the first it is {}, on replica {} {}",
                  text(expected), replica + 1, text(own)));
}

/// Replicas must stay equal: variables that are not floating-point have no mean, so they must not depend on a replica's
/// own rows.
void require_known_updates(const Graph& graph) {
  std::vector<bool> own_rows;  // by node
  for (const Node& node : graph.nodes()) {
    bool depends = op_as<InputOp>(node) != nullptr;
    for (const gpubench::Value input : node.inputs) {
      if (own_rows[static_cast<std::size_t>(input.node)]) depends = true;
    }
    if (op_as<ExchangeOp>(node) != nullptr) depends = false;
    own_rows.push_back(depends);
    if (!depends || op_as<StateOp>(node) == nullptr) continue;
    const auto* const variable = op_as<VariableOp>(graph.node(node.inputs[0]));
    if (variable == nullptr || is_floating(variable->variable()->type.dtype)) continue;
    throw Error(
        fmt::format("strategy:run: variable '{}' of {} is set by a replica's own rows, and would differ on every "
                    "replica; make it float32, which becomes the mean of all, or return the value and reduce it",
                    variable->variable()->name, to_string(variable->variable()->type)));
  }
}

}  // namespace

/// The plans of one function.
class ReplicatedFunction {
 public:
  ReplicatedFunction(WorldPtr world, ReplicasPtr replicas, LuaFunction function)
      : world_(std::move(world)), replicas_(std::move(replicas)), function_(std::move(function)) {}

  std::vector<std::shared_ptr<PerReplica>> call(lua_State* L, const std::vector<Argument>& arguments,
                                                const std::vector<BatchShare>& shares) {
    std::vector<std::vector<HostTensor>> given(shares.size());  // keeps the rows alive
    CallKey key{.types = {}, .shares = shares};
    for (std::size_t replica = 0; replica < shares.size(); ++replica) {
      for (const Argument& argument : arguments) {
        const HostTensor& own = argument.values[argument.values.size() == 1 ? 0 : replica];
        given[replica].push_back(argument.rows ? rows_of(own, shares[replica], shares[0].first) : own);
        key.types.push_back(given[replica].back().type());
      }
    }
    const std::shared_ptr<Planned> held = plans_.get(key, [&](const CallKey&) { return plan(L, given, shares); });
    Planned& planned = *held;
    std::vector<std::vector<TensorView>> views(shares.size());
    for (std::size_t replica = 0; replica < shares.size(); ++replica) {
      for (HostTensor& tensor : given[replica]) views[replica].push_back(tensor.view());
    }
    check_interrupt();
    planned.executor->run_each(views);
    planned.executor->wait_for_inputs();
    return results(planned, shares);
  }

  const LuaFunction& function() const { return function_; }

 private:
  struct Planned {
    std::unique_ptr<ReplicatedExecutor> executor;
    std::size_t outputs = 0;
  };

  std::unique_ptr<Planned> plan(lua_State* L, const std::vector<std::vector<HostTensor>>& given,
                                const std::vector<BatchShare>& shares) {
    auto planned = std::make_unique<Planned>();
    std::vector<ReplicaGraph> graphs;
    for (std::size_t replica = 0; replica < shares.size(); ++replica) {
      const TracedReplica own{.replicas = *replicas_, .share = shares[replica]};
      std::vector<TracedInput> inputs;
      for (const HostTensor& tensor : given[replica]) inputs.push_back({tensor.type(), replicas_->device(0)});
      TracedFunction traced = trace_function(L, function_, inputs, "strategy:run", &counter_, &own);
      Graph& graph = traced.trace->graph;
      // Statistics that layers keep of their examples become the mean over all replicas.
      const std::vector<VariablePtr> updated = updated_variables(graph, graph.variables());
      assign_variables(graph, updated, exchange_variables(graph, updated, weight_of(own.share)));
      planned->outputs = traced.outputs.size();
      require_known_updates(graph);
      graphs.push_back({std::move(graph), std::move(traced.outputs)});
      require_equal_exchanges(graphs.front().graph, graphs.back().graph, replica);
    }
    ExecutorOptions options;
    options.passes.bucket_bytes = replicas_->options().bucket_bytes;
    planned->executor = std::make_unique<ReplicatedExecutor>(replicas_, std::move(graphs), shares, options);
    return planned;
  }

  std::vector<std::shared_ptr<PerReplica>> results(Planned& planned, const std::vector<BatchShare>& shares) {
    std::vector<std::shared_ptr<PerReplica>> all;
    for (std::size_t output = 0; output < planned.outputs; ++output) {
      auto value = std::make_shared<PerReplica>(PerReplica{world_, replicas_->group(), {}, shares});
      for (int replica = 0; replica < replicas_->size(); ++replica)
        value->values.push_back(
            copy(planned.executor->replica(replica).result(static_cast<int>(output)), replicas_->device(replica)));
      all.push_back(std::move(value));
    }
    return all;
  }

  /// Out of the plan's memory, which the next call overwrites.
  Tensor copy(const TensorView& result, const DeviceId& id) {
    Device& device = world_->devices.device(id);
    Buffer buffer = device.memory().allocate(result.type->bytes(), "replica's result");
    device.stream().copy(buffer.data(), result.data, result.type->bytes());
    return {*result.type, id, std::move(buffer)};
  }

  WorldPtr world_;
  ReplicasPtr replicas_;
  LuaFunction function_;
  CallCounter counter_;
  PlanCache<Planned, CallKey> plans_;
};

class ReplicatedFunctions {
 public:
  ReplicatedFunction& get(lua_State* L, ScriptStrategy& strategy, int index) {
    const void* const identity = lua_topointer(L, index);
    for (const auto& [known, function] : functions_) {
      if (known == identity) return *function;
    }
    if (functions_.size() == most_functions) {
      throw ArgumentError(fmt::format(
          "this is the strategy's function number {}, and each is traced and planned: define the function once, "
          "outside of the loop",
          most_functions + 1));
    }
    functions_.emplace_back(identity, std::make_unique<ReplicatedFunction>(strategy.world, strategy.replicas,
                                                                           Value<LuaFunction>::read(L, index)));
    return *functions_.back().second;
  }

 private:
  std::vector<std::pair<const void*, std::unique_ptr<ReplicatedFunction>>> functions_;
};

ScriptStrategy::ScriptStrategy(WorldPtr in, ReplicaOptions options, ProcessGroup* group)
    : world(std::move(in)),
      replicas(std::make_shared<Replicas>(world->runtime, std::move(options), group)),
      functions(std::make_unique<ReplicatedFunctions>()) {}
ScriptStrategy::~ScriptStrategy() = default;

namespace {

Argument read_argument(lua_State* L, int index, const ScriptStrategy& strategy) {
  Eager& eager = strategy.world->dispatcher.eager();
  Argument argument;
  if (Value<std::shared_ptr<PerReplica>>::matches(L, index)) {
    const auto value = Value<std::shared_ptr<PerReplica>>::read(L, index);
    for (const Tensor& tensor : value->values) argument.values.push_back(eager.on_host(tensor));
    argument.shares = value->shares;
    if (argument.values.size() != static_cast<std::size_t>(strategy.replicas->size())) {
      throw ArgumentError(fmt::format("argument {} of the function has values of {} replicas, and the strategy has {}",
                                      index - 2, argument.values.size(), strategy.replicas->size()));
    }
    return argument;
  }
  if (!Value<TensorLike>::matches(L, index)) {
    throw ArgumentError(
        fmt::format("argument {} of the function: a Tensor or a PerReplica is expected, got {}; other "
                    "values are taken as they are when the function is traced, as upvalues",
                    index - 2, type_name_at(L, index)));
  }
  argument.values.push_back(eager.on_host(read_tensor(L, index)));
  argument.rows = !argument.values[0].shape().empty();
  return argument;
}

/// Of `strategy:run(f, { images, labels })`, as TensorFlow writes it: puts the values in place of the table.
void unpack_arguments(lua_State* L, int first) {
  if (lua_gettop(L) != first || !lua_istable(L, first)) return;
  lua_rawgeti(L, first, 1);
  const bool values = Value<Tensor>::matches(L, -1) || Value<std::shared_ptr<PerReplica>>::matches(L, -1);
  lua_pop(L, 1);
  if (!values) return;
  const auto count = static_cast<int>(sequence_length(L, first));
  luaL_checkstack(L, count, "arguments of the function");
  for (int i = 1; i <= count; ++i) lua_rawgeti(L, first, i);
  lua_remove(L, first);
}

/// The rows that the arguments agree about; none where none has rows.
std::optional<std::int64_t> common_rows(const std::vector<Argument>& arguments) {
  std::optional<std::int64_t> rows;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].rows) continue;
    const std::int64_t own = arguments[i].values[0].shape()[0];
    if (rows && *rows != own) {
      throw ArgumentError(
          fmt::format("tensors are divided among the replicas by rows; argument {} has {}, and those "
                      "before it have {}",
                      i + 1, own, *rows));
    }
    rows = own;
  }
  return rows;
}

/// Which rows are whose: as tensors are divided; of values by replica, as those that they come from; else one each.
std::vector<BatchShare> shares_of(ScriptStrategy& strategy, const std::vector<Argument>& arguments) {
  const std::optional<std::int64_t> rows = common_rows(arguments);
  const auto by_replica = std::ranges::find_if(arguments, [](const Argument& one) { return !one.shares.empty(); });
  if (!rows && by_replica != arguments.end()) return by_replica->shares;
  Replicas& replicas = *strategy.replicas;
  if (!rows) {
    std::vector<BatchShare> one_each;
    for (int replica = 0; replica < replicas.size(); ++replica)
      one_each.push_back({.first = replicas.communicator(replica).rank(), .rows = 1, .total = replicas.world_size()});
    return one_each;
  }
  BatchShare share{.first = 0, .rows = *rows, .total = *rows};
  if (replicas.group() != nullptr) share = replicas.share(*rows);
  std::vector<BatchShare> shares = replicas.split(share);
  if (std::ranges::none_of(shares, [](const BatchShare& own) { return own.rows == 0; })) return shares;
  throw ArgumentError(
      fmt::format("a batch of {} example{} has none for some of {} replicas; leave out a smaller last "
                  "batch by dataset:batch(size, {{ drop_remainder = true }})",
                  *rows, *rows == 1 ? "" : "s", replicas.size()));
}

/// For gb.measure.loop.
void note_step(Session& session, const ReplicasPtr& replicas, const std::vector<BatchShare>& shares) {
  std::vector<ReplicaSteps>* const noted = session.replica_steps;
  if (noted == nullptr) return;
  auto entry = std::ranges::find(*noted, replicas, &ReplicaSteps::replicas);
  if (entry == noted->end()) entry = noted->insert(entry, {.replicas = replicas});
  std::int64_t rows = 0;
  for (const BatchShare& share : shares) rows += share.rows;
  entry->rows_of_all = static_cast<double>(shares[0].total) / static_cast<double>(rows);
}

}  // namespace

int run_replicas(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptStrategy>>::read(L, 1);
  if (self->world->dispatcher.trace() != nullptr) {
    throw ArgumentError("a function that is being traced cannot run replicas; call strategy:run outside of it");
  }
  ReplicatedFunction& function = self->functions->get(L, *self, 2);
  unpack_arguments(L, 3);
  std::vector<Argument> arguments;
  for (int i = 3; i <= lua_gettop(L); ++i) arguments.push_back(read_argument(L, i, *self));
  const std::vector<BatchShare> shares = shares_of(*self, arguments);
  const auto results = function.call(L, arguments, shares);
  note_step(session_of(L), self->replicas, shares);
  luaL_checkstack(L, static_cast<int>(results.size()), "results");
  for (const auto& result : results) Value<std::shared_ptr<PerReplica>>::push(L, result);
  return static_cast<int>(results.size());
}

}  // namespace gpubench::lua
