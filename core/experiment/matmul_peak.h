// What a device can do at best, measured and not looked up: the fastest of a few large matrix products. The yardstick
// of the share `mfu` where no data sheet applies.
#pragma once
#include <map>
#include <utility>

#include "core/backend/backend.h"

namespace gpubench {

/// Floating-point operations per second; takes about half a second. Throws what planning throws.
double best_matmul_flops(Device& device, const Backend& backend, Dtype dtype);

/// Remembers what was measured.
class MatmulPeak {
 public:
  double flops_per_s(Device& device, const Backend& backend, Dtype dtype);

 private:
  std::map<std::pair<std::string, Dtype>, double> known_;  // by the device's id and description: it may be split anew
};

}  // namespace gpubench
