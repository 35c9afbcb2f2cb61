// What a running script has besides Lua: the command line's options, the devices, and one replica to compute on. The
// devices are made when something first needs them; until then gb.config may change how they are split and limited.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/backend/registry/devices.h"
#include "core/exec/dispatcher.h"
#include "core/exec/replicas.h"
#include "core/exec/runtime.h"
#include "core/experiment/copy_peak.h"
#include "core/experiment/matmul_peak.h"
#include "core/group/process_group.h"
#include "lua/api/open_iterators.h"
#include "lua/api/unfinished_runs.h"

struct lua_State;

namespace gpubench::lua {

struct SessionOptions {
  int threads = 0;                  ///< --threads, of all processes on this machine; 0: one per core
  std::uint64_t seed = 42;          ///< --seed
  std::optional<DeviceId> device;   ///< --device: what is used without a device scope
  double budget_s = 2.0;            ///< --budget: seconds of measuring per point
  std::optional<double> timeout_s;  ///< --timeout: seconds after which a point is given up
  bool quick = false;               ///< --quick
  std::string out = ".";            ///< --out: where results/ and plots/ are
  std::string restart_from;         ///< --restart-from: what trainings with `resume` go on from; empty: their own file
  std::vector<std::string> arguments;  ///< the command line, for run.json
  std::string script;                  ///< path of the script
};

/// Devices and the replica on them. Objects that compute keep it alive; a fresh one replaces it between points.
struct World {
  explicit World(const DeviceConfig& config) : devices(config), runtime(devices), dispatcher(runtime) {}
  Devices devices;
  Runtime runtime;
  Dispatcher dispatcher;
};
using WorldPtr = std::shared_ptr<World>;

/// Of steps that were taken by strategy:run.
struct ReplicaSteps {
  ReplicasPtr replicas;
  /// In the latest: how many times as many rows all processes took as this one.
  double rows_of_all = 1;
};

class Session {
 public:
  /// `group`: the processes that run the script together; nullptr for one of its own. Each takes its share of the
  /// machine's threads and GPUs.
  explicit Session(SessionOptions options, std::unique_ptr<ProcessGroup> group = nullptr);

  const SessionOptions& options() const { return options_; }
  ProcessGroup* group() const { return group_.get(); }
  /// --restart-from, for a training that goes on from there if it is given.
  const std::string& take_restart_from() {
    restart_taken_ = true;
    return options_.restart_from;
  }
  /// Whether --restart-from is given and nothing has asked for it.
  bool ignores_restart() const { return !options_.restart_from.empty() && !restart_taken_; }
  /// Made at the first call; from then on configure() refuses. Lua's collector cannot see the bytes of devices, so
  /// their pools run it when memory in use has doubled and before it runs out.
  const WorldPtr& world();
  bool started() const { return world_ != nullptr; }
  /// How the devices will be made. Throws Error "<what>: ... already in use" once they are.
  DeviceConfig& configure(const std::string& what);
  const DeviceConfig& config() const { return config_; }
  /// Threads that the options give the CPU devices of this process; 0: one for each processor that it may use.
  int cpu_threads() const;

  /// The seed that initializers and random ops start from; set by gb.config.set_seed, and per point.
  std::uint64_t seed() const { return seed_; }
  void set_seed(std::uint64_t seed) { seed_ = seed, next_stream_ = 0; }
  /// A seed of its own for the next layer or random op: the same sequence after every set_seed.
  std::uint64_t next_seed();
  /// next_seed() gives the same again from where this stood: for a function that is called twice to be compared.
  std::uint64_t seeds_given() const { return next_stream_; }
  void give_seeds_again(std::uint64_t from) { next_stream_ = from; }

  /// The type of layers made from now on; set by gb.config.set_floatx, and per point.
  Dtype floatx() const { return floatx_; }
  void set_floatx(Dtype dtype) { floatx_ = dtype; }
  /// The policy of layers made from now on: floatx() until one is set; reset per point.
  std::string dtype_policy() const { return dtype_policy_.value_or(std::string(to_string(floatx_))); }
  void set_dtype_policy(std::optional<std::string> name) { dtype_policy_ = std::move(name); }

  /// The replicas of the current strategy:scope, which train the models that are made in it; null outside a scope.
  const ReplicasPtr& replicas() const { return replicas_; }
  void set_replicas(ReplicasPtr replicas) { replicas_ = std::move(replicas); }
  /// Where strategy:run notes each step, one entry a strategy; null outside of gb.measure.loop.
  std::vector<ReplicaSteps>* replica_steps() { return replica_steps_; }
  void set_replica_steps(std::vector<ReplicaSteps>* steps) { replica_steps_ = steps; }

  /// The yardstick of rates, measured when something first asks for it; outlives the points.
  MatmulPeak& matmul_peak() { return matmul_peak_; }
  CopyPeak& copy_peak() { return copy_peak_; }

  struct Use {
    DeviceId device;
    std::size_t bytes = 0;
  };
  /// Memory that is still in use on each device where it is not zero.
  std::vector<Use> memory_in_use() const;
  /// From now on reset() returns to how all is set now, rather than to the command line's.
  void keep_configuration() { kept_ = {config_, seed_, floatx_, dtype_policy_}; }
  /// Ends a point: forgets the devices (once nothing uses them) and resets configuration, seed and type.
  void reset();

  OpenIterators open_iterators;
  /// The runs that this process writes.
  UnfinishedRuns unfinished_runs;
  /// Whether the script lets Lua collect garbage; known while the program's own code runs, in which it does not.
  bool script_collects = true;

 private:
  friend void set_session(lua_State* L, Session& session);
  void collect_under_pressure(World& world) const;

  lua_State* L_ = nullptr;
  struct Configuration {
    DeviceConfig devices;
    std::uint64_t seed;
    Dtype floatx;
    std::optional<std::string> dtype_policy;
  };

  SessionOptions options_;
  bool restart_taken_ = false;
  std::unique_ptr<ProcessGroup> group_;
  DeviceConfig config_;
  WorldPtr world_;
  ReplicasPtr replicas_;
  std::vector<ReplicaSteps>* replica_steps_ = nullptr;
  MatmulPeak matmul_peak_;
  CopyPeak copy_peak_;
  std::uint64_t seed_;
  Dtype floatx_ = Dtype::f32;
  std::optional<std::string> dtype_policy_;
  Configuration kept_;
  std::uint64_t next_stream_ = 0;
};

/// The session must outlive the Lua state.
void set_session(lua_State* L, Session& session);
Session& session_of(lua_State* L);
inline World& world_of(lua_State* L) {
  return *session_of(L).world();
}

}  // namespace gpubench::lua
