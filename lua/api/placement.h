// The devices of a running script, and which of them its work takes. Devices are created when they are first needed;
// before that gb.config may change how they are split and limited.
#pragma once
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
#include "core/group/process_group.h"
#include "core/report/text/progress_line.h"

struct lua_State;

namespace gpubench::lua {

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

class Placement {
 public:
  /// `threads`: of all processes on this machine; 0: one per core. `device`: outside of device scopes; none: the best.
  /// `group`: nullptr for a single process; each process takes its share of the machine's threads and GPUs.
  Placement(int threads, std::optional<DeviceId> device, const ProcessGroup* group, ProgressLine& line);
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  /// Lua's garbage collector does not see device memory: from now on the memory pools run that of this state when
  /// memory in use has doubled, and before they run out.
  void collect_garbage_of(lua_State* L) { L_ = L; }
  /// Created at the first call; afterwards configure() throws.
  const WorldPtr& world();
  bool started() const { return world_ != nullptr; }
  /// The configuration for creating devices. Throws Error "<what>: ... already in use" once they exist.
  DeviceConfig& configure(const std::string& what);
  const DeviceConfig& config() const { return config_; }
  /// Whether work for a missing device runs on cpu:0; reset per point. Off: it is an error.
  bool is_soft() const { return soft_; }
  void set_soft(bool soft) { soft_ = soft; }
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
  /// CPU threads of this process; 0: one for each processor that it may use.
  int cpu_threads() const;

  struct Use {
    DeviceId device;
    std::size_t bytes = 0;
  };
  /// Memory in use, for each device where it is not zero.
  std::vector<Use> memory_in_use() const;
  /// Releases the devices unless memory is in use or a living object was made for them.
  void release();
  /// From now on reset() restores the current settings.
  void keep() { kept_ = {config_, soft_}; }
  /// release(), then restores the settings; the configuration of devices that live stays.
  void reset();

 private:
  void collect_under_pressure(World& world) const;
  DeviceId place_in(const World& world, const DeviceId& id);
  void say(const std::string& text);

  const std::optional<DeviceId> device_;
  const ProcessGroup* const group_;
  ProgressLine& line_;
  lua_State* L_ = nullptr;
  DeviceConfig config_;
  WorldPtr world_;
  bool soft_ = false;
  std::pair<DeviceConfig, bool> kept_;
  std::vector<std::string> fallbacks_;
  std::set<DeviceId> announced_fallbacks_;
  std::set<std::string> announced_faults_;
};

}  // namespace gpubench::lua
