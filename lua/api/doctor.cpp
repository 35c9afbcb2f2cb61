// gb._native.doctor: the checks of core/doctor for this process' devices.
//
//   check(names)   the results of the checks of these names, of all without: { name, device, state, found,
//                  consequence, remedy, problem }; device, consequence and remedy only where there is one
//   checks()       all checks: { name, looks_at }
#include "core/doctor/doctor.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/backend/cuda/cuda_backend.h"
#include "core/device/device.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

template <>
struct Value<CheckResult> {
  static void push(lua_State* L, const CheckResult& result) {
    lua_newtable(L);
    const auto set = [L](const char* name, std::string_view text) {
      if (text.empty()) return;
      Value<std::string_view>::push(L, text);
      lua_setfield(L, -2, name);
    };
    set("name", result.name);
    set("device", result.device);
    set("state", to_string(result.state));
    set("found", result.found);
    set("consequence", result.consequence);
    set("remedy", result.remedy);
    Value<bool>::push(L, result.is_problem());
    lua_setfield(L, -2, "problem");
  }
};

template <>
struct Value<CheckInfo> {
  static void push(lua_State* L, const CheckInfo& info) {
    lua_createtable(L, 0, 2);
    Value<std::string_view>::push(L, info.name);
    lua_setfield(L, -2, "name");
    Value<std::string_view>::push(L, info.looks_at);
    lua_setfield(L, -2, "looks_at");
  }
};

namespace {

std::vector<CheckResult> check(lua_State* L, const std::optional<std::vector<std::string>>& names) {
  const Devices& devices = world_of(L).devices;
  MachineSources sources = machine_sources();
  sources.cuda_version = CudaBackend::cuda_version();
  sources.driver_cuda_version = CudaBackend::driver_cuda_version();
  sources.cpu_library = devices.backend(DeviceId{}).library();
  sources.gpu_absence = devices.absence(DeviceId::Kind::gpu);
  sources.unusable_gpus = devices.unusable(DeviceId::Kind::gpu);
  for (const DeviceId& id : devices.ids()) {
    if (id.kind != DeviceId::Kind::gpu) continue;
    const Device& device = devices.device(id);
    const std::string bus_id = device.bus_id();
    // Logical devices of one GPU are checked once.
    const auto is_same = [&](const CheckedGpu& gpu) { return gpu.bus_id == bus_id; };
    if (std::ranges::none_of(sources.gpus, is_same)) sources.gpus.push_back({to_string(id), bus_id, device.slice()});
  }
  return check_machine(sources, names.value_or(std::vector<std::string>{}));
}

}  // namespace

void open_doctor(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module doctor = native.submodule("doctor");
  doctor.function<&check>("check").function<&all_checks>("checks");
}

}  // namespace gpubench::lua
