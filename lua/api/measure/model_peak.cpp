#include "lua/api/measure/model_peak.h"

#include <set>

#include "core/device/device.h"

namespace gpubench::lua {
namespace {

template <class Rate>
std::optional<double> sum(const std::set<DeviceId>& devices, const Rate& rate_of) {
  double total = 0;
  for (const DeviceId& id : devices) {
    const std::optional<double> rate = rate_of(id);
    if (!rate) return std::nullopt;
    total += *rate;
  }
  return total;
}

std::optional<double> best_copy(Session& session, Device& device) {
  std::optional<CopyRates> rates;
  if (device.shares_host_memory())
    rates = session.copy_peak.known_rates(device);
  else
    rates = session.copy_peak.rates(device);
  return rates ? std::optional(rates->on_device) : std::nullopt;
}

}  // namespace

BestRates best_rates(Session& session, const Model& model) {
  const Devices& devices = session.placement.world()->devices;
  std::set<DeviceId> used;
  for (const LayerPtr& layer : model.layers()) used.insert(layer->device());
  BestRates best;
  const std::vector<Dtype> types = precisions(model);
  if (types.size() == 1 && is_floating(types[0])) {  // no yardstick for int8 is measured
    best.flops_per_s = sum(used, [&](const DeviceId& id) {
      return session.matmul_peak.flops_per_s(devices.device(id), devices.backend(id), types[0]);
    });
  }
  best.bytes_per_s = sum(used, [&](const DeviceId& id) { return best_copy(session, devices.device(id)); });
  return best;
}

}  // namespace gpubench::lua
