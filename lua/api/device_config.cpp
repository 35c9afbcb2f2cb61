// gb.config: how devices are split and limited, and the types of layers.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/cpu/processor.h"
#include "core/backend/cuda/cuda_backend.h"
#include "core/backend/emulated/emulated_backend.h"
#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/data/tune/machine_limits.h"
#include "core/device/device.h"
#include "core/nn/dtype_policy.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// "GPU", as gb.config names kinds.
std::string config_name(DeviceId::Kind kind) {
  std::string name(to_string(kind));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

bool of_kind(const DeviceId& id, const std::optional<std::string>& kind) {
  if (!kind) return true;
  std::vector<std::string> known;
  for (const DeviceId::Kind one : device_kinds()) {
    if (config_name(one) == *kind) return id.kind == one;
    known.push_back("'" + config_name(one) + "'");
  }
  std::ranges::sort(known);
  throw ArgumentError(fmt::format("the kind of a device is {}, got '{}'", fmt::join(known, " or "), *kind));
}

std::vector<DeviceId> list_logical_devices(lua_State* L, const std::optional<std::string>& kind) {
  std::vector<DeviceId> result;
  for (const DeviceId& id : world_of(L).devices.ids()) {
    if (of_kind(id, kind)) result.push_back(id);
  }
  return result;
}

/// The machine's devices before splitting; does not open them.
std::vector<DeviceId> list_physical_devices(const std::optional<std::string>& kind) {
  std::vector<DeviceId> result;
  for (const DeviceId::Kind one : device_kinds()) {
    if (!of_kind({one, 0, {}}, kind)) continue;
    for (const LogicalDevice& device : physical_devices(one)) {
      result.push_back({one, static_cast<std::int16_t>(device.physical), {}});
    }
  }
  return result;
}

/// The logical devices as they will be, written out one by one before the first is changed.
class Logical {
 public:
  /// `what`: the function that asks, for messages.
  Logical(lua_State* L, std::string what) : config_(session_of(L).placement.configure(what)), what_(std::move(what)) {
    for (const DeviceId::Kind kind : device_kinds()) {
      if (!config_[kind].devices) config_[kind].devices = physical_devices(kind);
    }
  }

  std::vector<LogicalDevice>& of(DeviceId::Kind kind) const { return *config_[kind].devices; }

  /// Names the device.
  PoolOptions& memory_of(const DeviceId& id) const {
    if (id.kind == DeviceId::Kind::emulated) return config_[id.kind].own<EmulatedOptions>().memory[id];
    LogicalDevice& device = (*this)[id];
    device.named = true;
    return device.memory;
  }

  LogicalDevice& operator[](const DeviceId& id) const {
    const std::vector<DeviceId::Kind> kinds = device_kinds();
    const auto index = static_cast<std::size_t>(id.index);
    if (std::ranges::find(kinds, id.kind) != kinds.end() && index < of(id.kind).size()) return of(id.kind)[index];
    throw Error(fmt::format("{}: there is no device {}; there are {}", what_, to_string(id), text()));
  }

 private:
  /// "gpu:0 and cpu:0 to cpu:3".
  std::string text() const {
    std::vector<std::string> ranges;
    for (const DeviceId::Kind kind : device_kinds()) {
      const std::size_t count = of(kind).size();
      if (count == 0) continue;
      const std::string first = to_string(DeviceId{kind, 0, {}});
      ranges.push_back(count == 1 ? first : fmt::format("{} to {}:{}", first, to_string(kind), count - 1));
    }
    return fmt::format("{}", fmt::join(ranges, " and "));
  }

  DeviceConfig& config_;
  std::string what_;
};

/// Threads for all CPU devices together.
std::int64_t cpu_threads(lua_State* L) {
  const int asked = session_of(L).placement.cpu_threads();
  return asked > 0 ? asked : std::min(schedulable_cores(), team_limit());
}

struct LogicalTable {
  std::optional<std::size_t> memory_limit;
  std::optional<int> threads;
  static constexpr auto fields =
      std::tuple{field("memory_limit", &LogicalTable::memory_limit), field("threads", &LogicalTable::threads)};
};

LogicalDevice logical_share(const DeviceId& physical, const LogicalTable& table) {
  if (table.threads && physical.kind != DeviceId::Kind::cpu) {
    throw ArgumentError(fmt::format("a logical {} has no threads; it has a memory_limit", noun(physical.kind)));
  }
  if (table.threads && (*table.threads < 0 || *table.threads > most_cpu_threads)) {
    throw ArgumentError(
        fmt::format("{} threads; 1 to {} are possible, or 0 for an equal share", *table.threads, most_cpu_threads));
  }
  return {.physical = physical.index,
          .memory = {.limit = table.memory_limit.value_or(0)},
          .threads = table.threads.value_or(0)};
}

/// The shares take the place of the physical device in the order of devices.
void set_logical_devices(lua_State* L, const DeviceId& physical, const std::vector<LogicalTable>& tables) {
  const Logical logical(L, "gb.config.set_logical_devices");
  const std::vector<DeviceId> known = list_physical_devices(std::nullopt);
  if (std::find(known.begin(), known.end(), physical) == known.end()) {
    std::vector<std::string> names;
    for (const DeviceId& id : known) names.push_back(to_string(id));
    throw Error(fmt::format("gb.config.set_logical_devices: there is no physical device {} to split; there is {}",
                            to_string(physical), fmt::join(names, ", ")));
  }
  if (tables.empty()) throw ArgumentError("at least one logical device is needed");
  constexpr std::size_t most_devices = 1024;  // of a kind
  if (logical.of(physical.kind).size() + tables.size() > most_devices) {
    throw ArgumentError(fmt::format("{} logical devices; at most {} are possible",
                                    logical.of(physical.kind).size() + tables.size() - 1, most_devices - 1));
  }
  std::vector<LogicalDevice> shares;
  for (const LogicalTable& table : tables) shares.push_back(logical_share(physical, table));
  std::vector<LogicalDevice>& all = logical.of(physical.kind);
  const auto same = [&](const LogicalDevice& device) { return device.physical == physical.index; };
  const auto first = std::find_if(all.begin(), all.end(), same) - all.begin();
  std::erase_if(all, same);
  all.insert(all.begin() + first, shares.begin(), shares.end());
}

/// Devices that are not named are not used; the named ones are numbered anew in the order given.
void set_visible_devices(lua_State* L, const std::vector<DeviceId>& devices, const std::string& kind) {
  const Logical logical(L, "gb.config.set_visible_devices");
  std::vector<LogicalDevice> visible;
  for (const DeviceId& id : devices) {
    if (!of_kind(id, kind)) {
      throw Error(fmt::format("gb.config.set_visible_devices: {} is no {}", to_string(id), kind));
    }
    if (std::ranges::count(devices, id) > 1) {
      throw Error(
          fmt::format("gb.config.set_visible_devices: {} is named twice; each device can be once", to_string(id)));
    }
    visible.push_back(logical[id]);
    visible.back().named = true;
  }
  const std::vector<DeviceId::Kind> kinds = device_kinds();
  const auto own = std::ranges::find_if(kinds, [&](DeviceId::Kind one) { return of_kind({one, 0, {}}, kind); });
  if (*own == DeviceId::Kind::cpu && visible.empty()) {
    throw Error("gb.config.set_visible_devices: a CPU device is needed; pipelines run on it");
  }
  logical.of(*own) = std::move(visible);
}

void set_memory_growth(lua_State* L, const DeviceId& id, bool growth) {
  PoolOptions& memory = Logical(L, "gb.config.set_memory_growth").memory_of(id);
  if (!growth && memory.limit == 0 && id.kind == DeviceId::Kind::cpu) {
    throw Error(
        "gb.config.set_memory_growth: preallocation on a CPU takes the memory limit at the "
        "start; set it first with gb.config.set_memory_limit");
  }
  memory.growth = growth;
}

void set_memory_limit(lua_State* L, const DeviceId& id, std::size_t bytes) {
  Logical(L, "gb.config.set_memory_limit").memory_of(id).limit = bytes;
}

CudaOptions& cuda_options(lua_State* L, const std::string& what) {
  return session_of(L).placement.configure(what)[DeviceId::Kind::gpu].own<CudaOptions>();
}

void set_tf32(lua_State* L, bool allowed) {
  cuda_options(L, "gb.config.set_tf32").tf32 = allowed;
}

void set_matmul_search(lua_State* L, int candidates) {
  if (candidates < 0) {
    throw Error(
        fmt::format("gb.config.set_matmul_search: a number of algorithms to measure, 0 for none, got {}", candidates));
  }
  cuda_options(L, "gb.config.set_matmul_search").matmul_search = candidates;
}

/// As tf.config.set_soft_device_placement, for devices that are missing or cannot be used.
void set_soft_device_placement(lua_State* L, bool soft) {
  session_of(L).placement.set_soft(soft);
}

bool soft_device_placement(lua_State* L) {
  return session_of(L).placement.is_soft();
}

void set_seed(lua_State* L, std::uint64_t seed) {
  session_of(L).random.set_seed(seed);
}

/// As keras.config.set_floatx: the type of layers created from now on.
void set_floatx(lua_State* L, const std::string& name) {
  const auto known = {Dtype::f32, Dtype::f16, Dtype::bf16};
  const auto found = std::find_if(known.begin(), known.end(), [&](Dtype dtype) { return to_string(dtype) == name; });
  if (found == known.end()) throw ArgumentError("the type is 'float32', 'float16' or 'bfloat16', got '" + name + "'");
  session_of(L).types.floatx = *found;
}

std::string floatx(lua_State* L) {
  return std::string(to_string(session_of(L).types.floatx));
}

/// As keras.config.set_dtype_policy: the types in which layers created from now on store and compute.
void set_dtype_policy(lua_State* L, const std::string& name) {
  const std::vector<DtypePolicy>& known = dtype_policies();
  if (std::ranges::find(known, name, &DtypePolicy::name) == known.end()) {
    throw ArgumentError(fmt::format("unknown policy '{}'{}", name,
                                    known_names(name, names_of(known, &DtypePolicy::name), "", "dtype")));
  }
  session_of(L).types.policy = name;
}

std::string dtype_policy(lua_State* L) {
  return session_of(L).types.dtype_policy();
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

}  // namespace

void open_device_config(lua_State* L) {
  const Module gb = Module::root(L);
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
      .function<&set_soft_device_placement>("set_soft_device_placement")
      .function<&soft_device_placement>("soft_device_placement")
      .function<&set_seed>("set_seed")
      .function<&set_floatx>("set_floatx")
      .function<&floatx>("floatx")
      .function<&set_dtype_policy>("set_dtype_policy")
      .function<&dtype_policy>("dtype_policy")
      .function<&memory_info, 1>("memory_info")
      .function<&description>("device_description");
}

}  // namespace gpubench::lua
