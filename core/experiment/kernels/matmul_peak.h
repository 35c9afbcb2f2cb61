// The highest arithmetic rate of a device, by measurement: that of the fastest of a few large matrix products. The
// reference for the share `mfu` if there is no data sheet.
#pragma once
#include <map>
#include <optional>
#include <utility>

#include "core/backend/backend.h"
#include "core/measure/estimate.h"
#include "core/results/record.h"

namespace gpubench {

/// Floating-point operations per second; takes about a second, and no time on an emulated device. None if the device's
/// memory does not suffice. Throws as planning does.
std::optional<double> best_matmul_flops(Device& device, const Backend& backend, Dtype dtype);

/// Sets `mfu` of a step or kernel of so many floating-point operations. Above 1 it is left out, and `detail` says so:
/// the machine was busier while the best rate was measured, which makes no time of the row wrong.
void set_mfu(Record& record, double flops, double best_flops_per_s, const Estimate& time);

/// Caches measured rates. Those of emulated devices are computed again at each call, because a script may change their
/// profile.
class MatmulPeak {
 public:
  std::optional<double> flops_per_s(Device& device, const Backend& backend, Dtype dtype);

  /// Keyed by the device's id and description, because a device may be split differently later.
  using Known = std::map<std::pair<std::string, Dtype>, double>;
  const Known& known() const { return known_; }

 private:
  Known known_;
};

}  // namespace gpubench
