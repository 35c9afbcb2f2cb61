// gb._native, about why devices are not busy:
//
//   device_facts()   of every device its name, description, library, driver's details, peaks and memory
//   findings(row)    the findings of a row with steps, the largest gain first, as `gpubench explain --json` has them
//   remedies_of_no_use(row)   which remedies the row's facts rule out, and why
#include "lua/api/device_facts.h"

#include <array>
#include <optional>

#include "core/backend/registry/float32.h"
#include "core/base/error.h"
#include "core/device/device.h"
#include "core/diagnose/findings.h"
#include "core/diagnose/no_use.h"
#include "core/report/text/explanation.h"
#include "core/telemetry/nvml/gpu_facts.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// The facts that findings read; the sensors of a device without a driver are none.
Info::Fields judged_facts(World& world, const DeviceId& id, const std::optional<GpuSensors>& gpu) {
  const Device& device = world.devices.device(id);
  const std::optional<DeviceSlice> slice = device.slice();
  Info::Fields facts{{"name", to_string(id)},
                     {"library", world.devices.backend(id).library()},
                     {"allows_tf32", rounds_float32(world.devices.backend(id))},
                     {"shares_host_memory", device.shares_host_memory()}};
  Info::Fields peaks;
  for (const auto& [name, rate] : gpu ? gpu_peaks(*gpu, slice) : device.peaks()) peaks.emplace_back(name, rate);
  if (!peaks.empty()) facts.emplace_back("peaks", std::move(peaks));
  const std::size_t limit = world.devices.device(id).memory().use().limit;
  const auto memory = gpu ? gpu->memory() : std::nullopt;
  if (limit != 0) {
    facts.emplace_back("memory_bytes", static_cast<std::int64_t>(limit));
  } else if (slice) {
    facts.emplace_back("memory_bytes", static_cast<std::int64_t>(slice->memory_bytes));
  } else if (memory) {
    facts.emplace_back("memory_bytes", static_cast<std::int64_t>(memory->total));
  }
  return facts;
}

std::optional<GpuSensors> sensors_of(World& world, const DeviceId& id) {
  const std::string bus_id = world.devices.device(id).bus_id();
  if (bus_id.empty()) return std::nullopt;
  const NvmlAccess access = open_nvml();
  if (!access.nvml) return std::nullopt;
  try {
    return GpuSensors(access.nvml, bus_id);
  } catch (const Error&) {  // the driver does not know the GPU
    return std::nullopt;
  }
}

Info::Fields all_facts(World& world, const DeviceId& id) {
  Info::Fields facts = judged_facts(world, id, sensors_of(world, id));
  Device& device = world.devices.device(id);
  facts.emplace_back("description", device.description());
  Info::Fields details;
  if (!device.bus_id().empty()) {
    for (auto& [label, text] : gpu_facts(open_nvml(), device.bus_id(), device.slice()))
      details.emplace_back(label, text);
  }
  if (!details.empty()) facts.emplace_back("details", std::move(details));
  return facts;
}

RunFacts facts_now(World& world) {
  Info::List devices;
  for (const DeviceId& id : world.devices.ids()) devices.emplace_back(judged_facts(world, id, sensors_of(world, id)));
  return facts_of(Info::Fields{{"devices", std::move(devices)}});
}

/// findings(row) -> list
int findings(lua_State* L) {
  const auto record = Value<Record>::read(L, 1);
  const RunFacts facts = facts_now(world_of(L));
  Value<Info>::push(L, findings_info(diagnose(record, facts), Evidence(record, facts)));
  return 1;
}

/// remedies_of_no_use(row) -> { [name] = why }
int remedies_of_no_use(lua_State* L) {
  const auto record = Value<Record>::read(L, 1);
  const RunFacts facts = facts_now(world_of(L));
  const Evidence evidence(record, facts);
  Info::Fields reasons;
  for (const RemedyText& text : remedies())
    if (std::string why = why_no_use(text.remedy, evidence); !why.empty())
      reasons.emplace_back(text.name, std::move(why));
  Value<Info>::push(L, Info(std::move(reasons)));
  return 1;
}

int device_facts(lua_State* L) {
  World& world = world_of(L);
  Info::List list;
  for (const DeviceId& id : world.devices.ids()) list.emplace_back(all_facts(world, id));
  Value<Info>::push(L, Info(std::move(list)));
  return 1;
}

}  // namespace

void set_verdict(World& world, Record& record) {
  if (has_steps(record)) record.set("verdict", diagnose(record, facts_now(world)).verdict());
}

void open_device_facts(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("_native")
      .function<&device_facts, 0>("device_facts")
      .function<&findings, 1>("findings")
      .function<&remedies_of_no_use, 1>("remedies_of_no_use");
}

}  // namespace gpubench::lua
