// The state of a running script besides Lua: the command line's options, the devices, and one replica for computing.
// Devices are created when they are first needed; before that gb.config may change how they are split and limited.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/backend/registry/devices.h"
#include "core/exec/dispatcher.h"
#include "core/exec/replicas.h"
#include "core/exec/runtime.h"
#include "core/experiment/kernels/copy_peak.h"
#include "core/experiment/kernels/matmul_peak.h"
#include "core/group/process_group.h"
#include "core/measure/activity.h"
#include "core/measure/stopping_rule.h"
#include "core/report/text/progress_line.h"
#include "core/run/unfinished_runs.h"
#include "lua/api/data/open_iterators.h"

struct lua_State;

namespace gpubench::lua {

struct SessionOptions {
  int threads = 0;                  ///< --threads, over all processes on this machine; 0: one per core
  std::uint64_t seed = 42;          ///< --seed
  std::optional<DeviceId> device;   ///< --device: the device outside of device scopes
  double budget_s = 2.0;            ///< --budget: seconds of measuring per point
  std::optional<double> timeout_s;  ///< --timeout: limit in seconds for a point
  bool quick = false;               ///< --quick
  std::string out = ".";            ///< --out: location of results/ and plots/
  std::string
      restart_from;  ///< --restart-from: file from which trainings with `resume` continue; empty: their own file
  std::vector<std::string> arguments;  ///< the command line, for run.json
  std::string script;                  ///< path of the script
  std::string script_text;             ///< what it holds
};

/// Devices and the replica on them. Objects that compute keep it alive; a new one replaces it between points.
struct World {
  explicit World(const DeviceConfig& config) : devices(config), runtime(devices), dispatcher(runtime) {}
  Devices devices;
  Runtime runtime;
  Dispatcher dispatcher;
  /// Replicas of the current strategy:scope, for models created in it; null outside a scope.
  ReplicasPtr replicas;
};
using WorldPtr = std::shared_ptr<World>;

/// The steps of one strategy in strategy:run.
struct ReplicaSteps {
  ReplicasPtr replicas;
  /// For the latest step: rows over all processes divided by this process's rows.
  double rows_of_all = 1;
};

class Session {
 public:
  /// `group`: the processes that run the script together; nullptr for a single process. Each process takes its share of
  /// the machine's threads and GPUs.
  explicit Session(SessionOptions options, std::unique_ptr<ProcessGroup> group = nullptr);

  const SessionOptions& options() const { return options_; }
  ProcessGroup* group() const { return group_.get(); }
  /// The argument of --restart-from, for a training that continues from it.
  const std::string& take_restart_from() {
    restart_taken_ = true;
    return options_.restart_from;
  }
  /// Whether --restart-from is given but unused.
  bool ignores_restart() const { return !options_.restart_from.empty() && !restart_taken_; }
  /// Created at the first call; afterwards configure() throws. Lua's garbage collector does not see device memory, so
  /// the memory pools run it when memory in use has doubled, and before they run out.
  const WorldPtr& world();
  bool started() const { return world_ != nullptr; }
  /// The configuration for creating devices. Throws Error "<what>: ... already in use" once they exist.
  DeviceConfig& configure(const std::string& what);
  const DeviceConfig& config() const { return config_; }
  /// Whether work for a missing device runs on cpu:0; reset per point. Off: it is an error.
  bool soft_placement() const { return soft_placement_; }
  void set_soft_placement(bool soft) { soft_placement_ = soft; }
  /// The device itself; with soft placement, cpu:0 for a device that is missing or cannot be used, which is said once
  /// and remembered.
  DeviceId place(const DeviceId& id);
  /// Whether place() gives a device that exists; throws Error saying why not. Does not use it.
  bool can_place(const DeviceId& id);
  /// Devices for work that may take all: the GPUs that can be used, or without one all CPU devices. Begins their use.
  /// What it leaves out is said once on standard error.
  std::vector<DeviceId> devices_of_best_kind();
  /// "gpu:0 is missing, cpu:0 took its place: no NVIDIA driver is loaded", for each fall-back since the last call.
  std::vector<std::string> take_fallbacks() { return std::exchange(fallbacks_, {}); }
  /// CPU threads of this process according to the options; 0: one for each processor that it may use.
  int cpu_threads() const;

  /// The seed of initializers and random ops; set by gb.config.set_seed, and per point.
  std::uint64_t seed() const { return seed_; }
  void set_seed(std::uint64_t seed) { seed_ = seed, next_stream_ = 0; }
  /// A separate seed for each layer or random op; the same sequence after every set_seed.
  std::uint64_t next_seed();
  /// For functions that are called twice and compared: next_seed() repeats from the remembered position.
  std::uint64_t seeds_given() const { return next_stream_; }
  void give_seeds_again(std::uint64_t from) { next_stream_ = from; }

  /// The type of layers created from now on; set by gb.config.set_floatx, and per point.
  Dtype floatx() const { return floatx_; }
  void set_floatx(Dtype dtype) { floatx_ = dtype; }
  /// The policy of layers created from now on: floatx() until one is set; reset per point.
  std::string dtype_policy() const { return dtype_policy_.value_or(std::string(to_string(floatx_))); }
  void set_dtype_policy(std::optional<std::string> name) { dtype_policy_ = std::move(name); }

  /// Seconds of measuring for a call of the script's `run`: those of a point, or its share in one of several rounds.
  double budget_s() const { return round_budget_s.value_or(options_.budget_s); }
  /// In rounds a point is measured several times, and their scatter tells how far its figures can be relied on.
  Scatter scatter() const { return round_budget_s ? Scatter::of_rounds : Scatter::judged; }
  std::optional<double> round_budget_s;

  /// Where strategy:run records each step, one entry per strategy; null outside of gb.measure.loop. Only that
  /// measurement reads the entries: no step depends on them.
  std::vector<ReplicaSteps>* replica_steps = nullptr;

  /// The reference for rates, measured at its first use; kept over all points.
  MatmulPeak& matmul_peak() { return matmul_peak_; }
  CopyPeak& copy_peak() { return copy_peak_; }

  struct Use {
    DeviceId device;
    std::size_t bytes = 0;
  };
  /// Memory in use, for each device where it is not zero.
  std::vector<Use> memory_in_use() const;
  /// From now on reset() restores the current settings instead of the command line's.
  void keep_configuration() { kept_ = {config_, seed_, floatx_, dtype_policy_, soft_placement_}; }
  /// Between a script's top level and the `run` of its experiment: releases the devices, so that `run` may configure
  /// them, and restarts the seed; all settings stay.
  void begin_run();
  /// Ends a point: resets seed and type, and releases the devices with their configuration unless a living object was
  /// made for them. Does nothing while memory is in use.
  void reset();

  OpenIterators open_iterators;
  /// The runs that this process writes.
  UnfinishedRuns unfinished_runs;
  /// What the point that runs is doing, which the line shows.
  Activity activity;
  ProgressLine progress_line;
  /// Whether the script lets Lua collect garbage; known while the program's own code runs, in which it does not.
  bool script_collects = true;

 private:
  friend void set_session(lua_State* L, Session& session);
  void collect_under_pressure(World& world) const;
  DeviceId place_in(const World& world, const DeviceId& id);
  /// Unless memory is in use or a living object was made for them.
  void release_devices();

  lua_State* L_ = nullptr;
  struct Configuration {
    DeviceConfig devices;
    std::uint64_t seed;
    Dtype floatx;
    std::optional<std::string> dtype_policy;
    bool soft_placement;
  };

  SessionOptions options_;
  bool restart_taken_ = false;
  std::unique_ptr<ProcessGroup> group_;
  DeviceConfig config_;
  WorldPtr world_;
  MatmulPeak matmul_peak_;
  CopyPeak copy_peak_;
  std::uint64_t seed_;
  Dtype floatx_ = Dtype::f32;
  std::optional<std::string> dtype_policy_;
  bool soft_placement_ = false;
  std::vector<std::string> fallbacks_;
  std::set<DeviceId> announced_fallbacks_;
  std::set<std::string> announced_faults_;
  Configuration kept_;
  std::uint64_t next_stream_ = 0;
};

/// The session must outlive the Lua state.
void set_session(lua_State* L, Session& session);
/// Before the state is closed: finalizers that run then find no session, since what they make would outlive its
/// devices.
void end_session(lua_State* L);
Session& session_of(lua_State* L);
/// For as long as no script's function is called: an experiment that it declares may replace the world, so that what
/// goes on in this one afterwards holds its pointer.
inline World& world_of(lua_State* L) {
  return *session_of(L).world();
}

}  // namespace gpubench::lua
