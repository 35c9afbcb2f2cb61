// gb.devices, gb.device and gb.config: which devices there are, how they are split and limited, and what runs where.
#include <array>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "core/base/error.h"
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
  for (const DeviceId& id : Devices(DeviceConfig{}).ids()) {
    if (of_kind(id, kind)) result.push_back(id);
  }
  return result;
}

CpuDeviceConfig& cpu_config(DeviceConfig& config, const DeviceId& id, const std::string& what) {
  const auto index = static_cast<std::size_t>(id.index);
  if (id.kind == DeviceId::Kind::cpu && index < config.cpus.size()) return config.cpus[index];
  throw Error(
      fmt::format("{}: there is no device {}; there are cpu:0 to cpu:{}", what, to_string(id), config.cpus.size() - 1));
}

struct LogicalDevice {
  std::optional<std::size_t> memory_limit;
  int threads = 0;
  static constexpr auto fields =
      std::tuple{field("memory_limit", &LogicalDevice::memory_limit), field("threads", &LogicalDevice::threads)};
};

void set_logical_devices(lua_State* L, const DeviceId& physical, const std::vector<LogicalDevice>& logical) {
  DeviceConfig& config = session_of(L).configure("gb.config.set_logical_devices");
  if (physical != DeviceId{}) {
    throw Error(fmt::format("gb.config.set_logical_devices: there is no physical device {} to split; there is cpu:0",
                            to_string(physical)));
  }
  if (logical.empty()) throw ArgumentError("at least one logical device is needed");
  config.cpus.clear();
  for (const LogicalDevice& device : logical) {
    if (device.threads < 0) throw ArgumentError("threads must be at least 1, or 0 for an equal share");
    CpuDeviceConfig cpu;
    cpu.memory.limit = device.memory_limit.value_or(0);
    cpu.threads = device.threads;
    config.cpus.push_back(cpu);
  }
}

void set_memory_growth(lua_State* L, const DeviceId& id, bool growth) {
  DeviceConfig& config = session_of(L).configure("gb.config.set_memory_growth");
  CpuDeviceConfig& cpu = cpu_config(config, id, "gb.config.set_memory_growth");
  if (!growth && cpu.memory.limit == 0) {
    throw Error(
        "gb.config.set_memory_growth: preallocation takes the memory limit at the start; set it first with "
        "gb.config.set_memory_limit");
  }
  cpu.memory.growth = growth;
}

void set_memory_limit(lua_State* L, const DeviceId& id, std::size_t bytes) {
  DeviceConfig& config = session_of(L).configure("gb.config.set_memory_limit");
  cpu_config(config, id, "gb.config.set_memory_limit").memory.limit = bytes;
}

void set_seed(lua_State* L, std::uint64_t seed) {
  session_of(L).set_seed(seed);
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
    config.function<&list_logical_devices>("list_logical_devices")
        .function<&list_physical_devices>("list_physical_devices")
        .function<&set_logical_devices>("set_logical_devices")
        .function<&set_memory_growth>("set_memory_growth")
        .function<&set_memory_limit>("set_memory_limit")
        .function<&set_seed>("set_seed")
        .function<&memory_info>("memory_info")
        .function<&description>("device_description");
  }
  const Module native = gb.submodule("_native");
  native.function<&library>("device_library")
      .function<&details>("device_details")
      .function<&memory_in_use>("memory_in_use")
      .function<&reset>("reset_devices")
      .function<&keep_configuration>("keep_configuration");
}

}  // namespace gpubench::lua
