// gb.measure.copies: the best rates at which bytes reach, leave and move on a device.
#include "core/base/error.h"
#include "core/device/device.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/api/session.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"
#include "lua/bind/variant.h"

namespace gpubench::lua {
namespace {

Record to_record(const CopyRates& rates) {
  Record record;
  if (rates.to_device) record.set("to_device_bytes_per_s", *rates.to_device);
  if (rates.from_device) record.set("from_device_bytes_per_s", *rates.from_device);
  record.set("on_device_bytes_per_s", rates.on_device);
  return record;
}

/// gb.measure.copies(device): { to_device_bytes_per_s = , from_device_bytes_per_s = , on_device_bytes_per_s = }
Record copies(lua_State* L, const std::optional<DeviceId>& given) {
  Session& session = session_of(L);
  const WorldPtr world = session.placement.world();
  Device& device = world->devices.device(given.value_or(world->dispatcher.device()));
  const std::optional<CopyRates> rates = session.copy_peak.rates(device);
  if (!rates) throw OutOfMemory("measure.copies: " + to_string(device.id()) + " has no memory left to copy in");
  return to_record(*rates);
}

/// For run.json: the copy rates measured in this process.
int copy_peaks(lua_State* L) {
  Info::Fields peaks;
  for (const auto& [name, rates] : session_of(L).copy_peak.known()) {
    Info::Fields fields;
    if (rates.to_device) fields.emplace_back("to_device", Info(*rates.to_device));
    if (rates.from_device) fields.emplace_back("from_device", Info(*rates.from_device));
    fields.emplace_back("on_device", Info(rates.on_device));
    peaks.emplace_back(name, Info(std::move(fields)));
  }
  Value<Info>::push(L, Info(std::move(peaks)));
  return 1;
}

}  // namespace

void open_measure_copies(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("measure").function<&copies>("copies");
  gb.submodule("_native").function<&copy_peaks, 0>("copy_peaks");
}

}  // namespace gpubench::lua
