#include "lua/api/model_peak.h"

#include <set>

#include "core/experiment/training.h"

namespace gpubench::lua {

std::optional<double> best_flops_per_s(Session& session, const Model& model) {
  const Devices& devices = session.world()->devices;
  const std::vector<Dtype> types = precisions(model);
  if (types.size() != 1 || !is_floating(types[0])) return std::nullopt;  // no yardstick for int8 is measured
  std::set<DeviceId> used;
  for (const LayerPtr& layer : model.layers()) used.insert(layer->device());
  double best = 0;
  for (const DeviceId& id : used) {
    const auto own = session.matmul_peak().flops_per_s(devices.device(id), devices.backend(id), types[0]);
    if (!own) return std::nullopt;
    best += *own;
  }
  return best;
}

}  // namespace gpubench::lua
