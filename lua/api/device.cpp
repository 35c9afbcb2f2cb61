// gb.devices and gb.device: which devices there are, and what runs where.
#include "core/device/device.h"

#include <array>
#include <optional>
#include <utility>

#include "core/base/value_scope.h"
#include "core/telemetry/nvml/gpu_facts.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// Those of the machine, whether emulated ones are in use or not. Tries all that the script may choose from.
std::vector<DeviceId> devices(lua_State* L) {
  const Devices& there = world_of(L).devices;
  std::vector<DeviceId> ids = session_of(L).options().device ? there.ids() : there.usable();
  std::erase_if(ids, [](const DeviceId& id) { return id.kind == DeviceId::Kind::emulated; });
  return ids;
}

/// gb.device(name, fn): runs fn with everything it creates placed on the device, and returns what fn returns.
/// gb.device(): the current device.
int device(lua_State* L) {
  const WorldPtr world = session_of(L).placement.world();
  if (lua_isnoneornil(L, 1)) {
    Value<DeviceId>::push(L, world->dispatcher.device());
    return 1;
  }
  const DeviceId asked = Value<DeviceId>::read(L, 1);
  Value<LuaFunction>::read(L, 2);
  const DeviceId id = session_of(L).placement.place(asked);
  const DeviceScope scope(world->dispatcher, id);
  lua_settop(L, 2);
  protected_call(L, 0, LUA_MULTRET);
  return lua_gettop(L) - 1;
}

/// The driver's facts about a GPU, as { label, text } in display order; empty for other devices.
std::vector<std::array<std::string, 2>> details(lua_State* L, const DeviceId& id) {
  const Device& device = world_of(L).devices.device(id);
  std::vector<std::array<std::string, 2>> result;
  if (device.bus_id().empty()) return result;
  for (auto& [label, text] : gpu_facts(open_nvml(), device.bus_id(), device.slice()))
    result.push_back({std::move(label), std::move(text)});
  return result;
}

/// Whether the device is there, or soft placement finds another one for it.
bool can_place(lua_State* L, const DeviceId& id) {
  return session_of(L).placement.can_place(id);
}

/// Why work ran on another device than the one that it was for, since the last call.
std::vector<std::string> take_fallbacks(lua_State* L) {
  return session_of(L).placement.take_fallbacks();
}

/// Bytes in use by device, only where not zero.
std::map<std::string, std::size_t> memory_in_use(lua_State* L) {
  std::map<std::string, std::size_t> uses;
  for (const Placement::Use& use : session_of(L).placement.memory_in_use()) uses[to_string(use.device)] = use.bytes;
  return uses;
}

/// Why there is no GPU to use; nil when there is one.
std::optional<std::string> gpu_absence(lua_State* L) {
  const auto fault = world_of(L).devices.absence(DeviceId::Kind::gpu);
  return fault ? std::optional(to_string(fault)) : std::nullopt;
}

/// "GPU 1 (NVIDIA H100) cannot be used: ...": the GPUs whose use has failed.
std::vector<std::string> unusable_gpus(lua_State* L) {
  std::vector<std::string> texts;
  for (const DeviceFault& fault : world_of(L).devices.unusable(DeviceId::Kind::gpu)) texts.push_back(to_string(fault));
  return texts;
}

/// Whether the device is there and can be used; begins its use.
bool can_use(lua_State* L, const DeviceId& id) {
  const Devices& devices = world_of(L).devices;
  return devices.has(id) && !devices.fault(id);
}

void reset(lua_State* L) {
  session_of(L).reset();
}

/// with_round_budget(seconds, f, ...): what f returns. The seconds are those of measuring in a call of the script's
/// `run` that is one of several of its point; nil where a point is measured once.
int with_round_budget(lua_State* L) {
  const auto seconds = Value<std::optional<double>>::read(L, 1);
  Value<LuaFunction>::read(L, 2);
  Session& session = session_of(L);
  const ValueScope scope(session.budgets.round_s, seconds);
  protected_call(L, lua_gettop(L) - 2, LUA_MULTRET);
  return lua_gettop(L) - 1;
}

/// Every point starts from what the script has set so far; returns the seed.
std::uint64_t keep_configuration(lua_State* L) {
  Session& session = session_of(L);
  session.keep_configuration();
  return session.random.seed();
}

}  // namespace

void open_device(lua_State* L) {
  const Module gb = Module::root(L);
  gb.function<&devices>("devices").function<&device, 2>("device");
  const Module native = gb.submodule("_native");
  native.function<&gpu_absence>("gpu_absence")
      .function<&unusable_gpus>("unusable_gpus")
      .function<&can_place>("can_place")
      .function<&can_use>("can_use")
      .function<&take_fallbacks>("take_fallbacks")
      .function<&memory_in_use>("memory_in_use")
      .function<&reset>("reset_devices")
      .function<&keep_configuration>("keep_configuration")
      .function<&with_round_budget, any_number>("with_round_budget");
}

void open_device_details(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("_native").function<&details>("device_details");
}

}  // namespace gpubench::lua
