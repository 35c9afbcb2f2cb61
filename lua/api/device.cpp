// gb.devices, gb.device and gb.config: which devices there are, how they are split and limited, and what runs where.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/data/tune/machine_limits.h"
#include "core/nn/dtype_policy.h"
#include "core/telemetry/nvml/gpu_facts.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

std::vector<DeviceId> devices(lua_State* L) {
  return world_of(L).devices.ids();
}

/// Restores the device that ops are placed on.
class DeviceScope {
 public:
  DeviceScope(Dispatcher& dispatcher, const DeviceId& device)
      : dispatcher_(dispatcher), before_(dispatcher.set_device(device)) {}
  ~DeviceScope() { dispatcher_.set_device(before_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Dispatcher& dispatcher_;
  DeviceId before_;
};

/// gb.device(name, fn): runs fn with everything it creates placed on the device, and returns what fn returns.
/// gb.device(): the current device.
int device(lua_State* L) {
  const WorldPtr world = session_of(L).world();
  if (lua_isnoneornil(L, 1)) {
    Value<DeviceId>::push(L, world->dispatcher.device());
    return 1;
  }
  const DeviceId id = Value<DeviceId>::read(L, 1);
  Value<LuaFunction>::read(L, 2);
  const DeviceScope scope(world->dispatcher, id);
  lua_settop(L, 2);
  protected_call(L, 0, LUA_MULTRET);
  return lua_gettop(L) - 1;
}

// --- gb.config
// --------------------------------------------------------------------------------------------------------

bool of_kind(const DeviceId& id, const std::optional<std::string>& kind) {
  if (!kind) return true;
  if (*kind != "CPU" && *kind != "GPU")
    throw ArgumentError("the kind of a device is 'CPU' or 'GPU', got '" + *kind + "'");
  return id.kind == (*kind == "CPU" ? DeviceId::Kind::cpu : DeviceId::Kind::gpu);
}

std::vector<DeviceId> list_logical_devices(lua_State* L, const std::optional<std::string>& kind) {
  std::vector<DeviceId> result;
  for (const DeviceId& id : world_of(L).devices.ids()) {
    if (of_kind(id, kind)) result.push_back(id);
  }
  return result;
}

/// What the machine has, before it is split; does not take the devices into use.
std::vector<DeviceId> list_physical_devices(const std::optional<std::string>& kind) {
  std::vector<DeviceId> result;
  const auto add = [&](DeviceId::Kind of, std::size_t index) {
    const DeviceId id{of, static_cast<std::int16_t>(index), {}};
    if (of_kind(id, kind)) result.push_back(id);
  };
  for (std::size_t gpu = 0; gpu < visible_gpus().size(); ++gpu) add(DeviceId::Kind::gpu, gpu);
  add(DeviceId::Kind::cpu, 0);
  return result;
}

/// The options of a logical device as they will be; GPUs are written out one by one before the first is changed.
struct Logical {
  std::vector<CpuDeviceConfig>& cpus;
  std::vector<GpuDeviceOptions>& gpus;

  explicit Logical(DeviceConfig& config) : cpus(config.cpus), gpus(written_out(config)) {}

  PoolOptions& memory(const DeviceId& id, const std::string& what) const {
    const auto index = static_cast<std::size_t>(id.index);
    if (id.kind == DeviceId::Kind::cpu && index < cpus.size()) return cpus[index].memory;
    if (id.kind == DeviceId::Kind::gpu && index < gpus.size()) return gpus[index].memory;
    throw Error(fmt::format("{}: there is no device {}; there are {}", what, to_string(id), text()));
  }

  /// "gpu:0 and cpu:0 to cpu:3".
  std::string text() const {
    const auto range = [](std::string_view kind, std::size_t count) {
      return count == 1 ? fmt::format("{}:0", kind) : fmt::format("{}:0 to {}:{}", kind, kind, count - 1);
    };
    return (gpus.empty() ? std::string() : range("gpu", gpus.size()) + " and ") + range("cpu", cpus.size());
  }

 private:
  static std::vector<GpuDeviceOptions>& written_out(DeviceConfig& config) {
    if (!config.gpus) config.gpus = visible_gpus();
    return *config.gpus;
  }
};

/// Threads for all CPU devices together.
std::int64_t cpu_threads(lua_State* L) {
  const int asked = session_of(L).config().threads;
  return asked > 0 ? asked : schedulable_cores();
}

struct LogicalDevice {
  std::optional<std::size_t> memory_limit;
  std::optional<int> threads;
  static constexpr auto fields =
      std::tuple{field("memory_limit", &LogicalDevice::memory_limit), field("threads", &LogicalDevice::threads)};
};

void split_cpu(std::vector<CpuDeviceConfig>& cpus, const std::vector<LogicalDevice>& logical) {
  cpus.clear();
  for (const LogicalDevice& device : logical) {
    if (device.threads.value_or(0) < 0) throw ArgumentError("threads must be at least 1, or 0 for an equal share");
    cpus.push_back({.memory = {.limit = device.memory_limit.value_or(0)}, .threads = device.threads.value_or(0)});
  }
}

/// The shares take the place of the GPU in the order of devices.
void split_gpu(std::vector<GpuDeviceOptions>& gpus, int physical, const std::vector<LogicalDevice>& logical) {
  std::vector<GpuDeviceOptions> shares;
  for (const LogicalDevice& device : logical) {
    if (device.threads) throw ArgumentError("a logical GPU has no threads; it has a memory_limit");
    shares.push_back({.physical = physical, .memory = {.limit = device.memory_limit.value_or(0)}});
  }
  const auto same = [&](const GpuDeviceOptions& gpu) { return gpu.physical == physical; };
  const auto first = std::find_if(gpus.begin(), gpus.end(), same) - gpus.begin();
  std::erase_if(gpus, same);
  gpus.insert(gpus.begin() + first, shares.begin(), shares.end());
}

void set_logical_devices(lua_State* L, const DeviceId& physical, const std::vector<LogicalDevice>& logical) {
  DeviceConfig& config = session_of(L).configure("gb.config.set_logical_devices");
  const std::vector<DeviceId> known = list_physical_devices(std::nullopt);
  if (std::find(known.begin(), known.end(), physical) == known.end()) {
    std::vector<std::string> names;
    for (const DeviceId& id : known) names.push_back(to_string(id));
    throw Error(fmt::format("gb.config.set_logical_devices: there is no physical device {} to split; there is {}",
                            to_string(physical), fmt::join(names, ", ")));
  }
  if (logical.empty()) throw ArgumentError("at least one logical device is needed");
  const Logical all(config);
  if (physical.kind == DeviceId::Kind::cpu) {
    split_cpu(all.cpus, logical);
  } else {
    split_gpu(all.gpus, physical.index, logical);
  }
}

/// Devices that are not named are not used; those that are are numbered anew in the order given.
void set_visible_devices(lua_State* L, const std::vector<DeviceId>& devices, const std::string& kind) {
  DeviceConfig& config = session_of(L).configure("gb.config.set_visible_devices");
  const Logical all(config);
  std::vector<CpuDeviceConfig> cpus;
  std::vector<GpuDeviceOptions> gpus;
  for (const DeviceId& id : devices) {
    if (!of_kind(id, kind)) {
      throw Error(fmt::format("gb.config.set_visible_devices: {} is no {}", to_string(id), kind));
    }
    static_cast<void>(all.memory(id, "gb.config.set_visible_devices"));  // throws when it is not there
    const auto index = static_cast<std::size_t>(id.index);
    if (id.kind == DeviceId::Kind::cpu) {
      cpus.push_back(all.cpus[index]);
    } else {
      gpus.push_back(all.gpus[index]);
    }
  }
  if (kind == "GPU") {
    all.gpus = std::move(gpus);
    return;
  }
  if (cpus.empty()) throw Error("gb.config.set_visible_devices: a CPU device is needed; pipelines run on it");
  all.cpus = std::move(cpus);
}

void set_memory_growth(lua_State* L, const DeviceId& id, bool growth) {
  const Logical all(session_of(L).configure("gb.config.set_memory_growth"));
  PoolOptions& memory = all.memory(id, "gb.config.set_memory_growth");
  if (!growth && memory.limit == 0 && id.kind == DeviceId::Kind::cpu) {
    throw Error(
        "gb.config.set_memory_growth: preallocation on a CPU takes the memory limit at the start; set it first with "
        "gb.config.set_memory_limit");
  }
  memory.growth = growth;
}

void set_memory_limit(lua_State* L, const DeviceId& id, std::size_t bytes) {
  const Logical all(session_of(L).configure("gb.config.set_memory_limit"));
  all.memory(id, "gb.config.set_memory_limit").limit = bytes;
}

void set_tf32(lua_State* L, bool allowed) {
  session_of(L).configure("gb.config.set_tf32").tf32 = allowed;
}

void set_matmul_search(lua_State* L, int candidates) {
  if (candidates < 0) {
    throw Error(
        fmt::format("gb.config.set_matmul_search: a number of algorithms to measure, 0 for none, got {}", candidates));
  }
  session_of(L).configure("gb.config.set_matmul_search").matmul_search = candidates;
}

void set_seed(lua_State* L, std::uint64_t seed) {
  session_of(L).set_seed(seed);
}

/// As keras.config.set_floatx: the type of layers made from now on.
void set_floatx(lua_State* L, const std::string& name) {
  const auto known = {Dtype::f32, Dtype::f16, Dtype::bf16};
  const auto found = std::find_if(known.begin(), known.end(), [&](Dtype dtype) { return to_string(dtype) == name; });
  if (found == known.end()) throw ArgumentError("the type is 'float32', 'float16' or 'bfloat16', got '" + name + "'");
  session_of(L).set_floatx(*found);
}

std::string floatx(lua_State* L) {
  return std::string(to_string(session_of(L).floatx()));
}

/// As keras.config.set_dtype_policy: what layers made from now on store and compute in.
void set_dtype_policy(lua_State* L, const std::string& name) {
  const std::vector<DtypePolicy>& known = dtype_policies();
  if (std::ranges::find(known, name, &DtypePolicy::name) == known.end()) {
    throw ArgumentError(fmt::format("unknown policy '{}' (known: {})", name, dtype_policy_names()));
  }
  session_of(L).set_dtype_policy(name);
}

std::string dtype_policy(lua_State* L) {
  return session_of(L).dtype_policy();
}

int memory_info(lua_State* L) {
  World& world = world_of(L);
  const DeviceId id = lua_isnoneornil(L, 1) ? world.dispatcher.device() : Value<DeviceId>::read(L, 1);
  const MemoryUse use = world.devices.device(id).memory().use();
  lua_newtable(L);
  const auto set = [L](const char* name, std::size_t bytes) {
    lua_pushinteger(L, static_cast<lua_Integer>(bytes));
    lua_setfield(L, -2, name);
  };
  set("in_use", use.in_use);
  set("peak", use.peak);
  set("reserved", use.reserved);
  set("largest_free", use.largest_free);
  if (use.limit != 0) set("limit", use.limit);
  return 1;
}

std::string description(lua_State* L, const DeviceId& id) {
  return world_of(L).devices.device(id).description();
}

/// What the driver says of a GPU, as { label, text } in the order to be shown; nothing for other devices.
std::vector<std::array<std::string, 2>> details(lua_State* L, const DeviceId& id) {
  const std::string bus_id = world_of(L).devices.device(id).bus_id();
  std::vector<std::array<std::string, 2>> result;
  if (bus_id.empty()) return result;
  for (auto& [label, text] : gpu_facts(open_nvml(), bus_id)) result.push_back({std::move(label), std::move(text)});
  return result;
}

std::string library(lua_State* L, const DeviceId& id) {
  return world_of(L).devices.backend(id).library();
}

// --- for the experiment library
// -----------------------------------------------------------------------------------------

/// Bytes in use by device, only where not zero.
std::map<std::string, std::size_t> memory_in_use(lua_State* L) {
  std::map<std::string, std::size_t> uses;
  for (const Session::Use& use : session_of(L).memory_in_use()) uses[to_string(use.device)] = use.bytes;
  return uses;
}

/// Why there is no GPU to use; nil when there is one.
std::optional<std::string> gpu_absence(lua_State* L) {
  const std::string& reason = world_of(L).devices.gpu_absence();
  return reason.empty() ? std::nullopt : std::optional(reason);
}

/// "GPU 1: ...": those that are there and cannot be used.
std::vector<std::string> unusable_gpus(lua_State* L) {
  return world_of(L).devices.unusable_gpus();
}

void reset(lua_State* L) {
  session_of(L).reset();
}

/// Every point starts from what the script has set so far; returns the seed.
std::uint64_t keep_configuration(lua_State* L) {
  Session& session = session_of(L);
  session.keep_configuration();
  return session.seed();
}

}  // namespace

void open_device(lua_State* L) {
  const Module gb = Module::root(L);
  gb.function<&devices>("devices").function<&device>("device");
  {
    const Module config = gb.submodule("config");
    config.function<&cpu_threads>("cpu_threads")
        .function<&list_logical_devices>("list_logical_devices")
        .function<&list_physical_devices>("list_physical_devices")
        .function<&set_logical_devices>("set_logical_devices")
        .function<&set_visible_devices>("set_visible_devices")
        .function<&set_tf32>("set_tf32")
        .function<&set_matmul_search>("set_matmul_search")
        .function<&set_memory_growth>("set_memory_growth")
        .function<&set_memory_limit>("set_memory_limit")
        .function<&set_seed>("set_seed")
        .function<&set_floatx>("set_floatx")
        .function<&floatx>("floatx")
        .function<&set_dtype_policy>("set_dtype_policy")
        .function<&dtype_policy>("dtype_policy")
        .function<&memory_info>("memory_info")
        .function<&description>("device_description");
  }
  const Module native = gb.submodule("_native");
  native.function<&library>("device_library")
      .function<&details>("device_details")
      .function<&gpu_absence>("gpu_absence")
      .function<&unusable_gpus>("unusable_gpus")
      .function<&memory_in_use>("memory_in_use")
      .function<&reset>("reset_devices")
      .function<&keep_configuration>("keep_configuration");
}

}  // namespace gpubench::lua
