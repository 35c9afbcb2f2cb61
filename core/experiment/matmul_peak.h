// The highest arithmetic rate of a device, measured and not looked up: that of the fastest of a few large matrix
// products. The reference for the share `mfu` where no data sheet applies.
#pragma once
#include <map>
#include <optional>
#include <utility>

#include "core/backend/backend.h"
#include "core/results/record.h"

namespace gpubench {

/// Floating-point operations per second; takes about a second. None where the device's memory does not suffice.
/// Throws what planning throws.
std::optional<double> best_matmul_flops(Device& device, const Backend& backend, Dtype dtype);

/// Marks a record unreliable whose `mfu` is above 1: its reference was measured while the machine was busier.
void mark_impossible_mfu(Record& record);

/// Remembers what was measured.
class MatmulPeak {
 public:
  std::optional<double> flops_per_s(Device& device, const Backend& backend, Dtype dtype);

  /// By the device's id and description, since it may be split anew.
  using Known = std::map<std::pair<std::string, Dtype>, double>;
  const Known& known() const { return known_; }

 private:
  Known known_;
};

}  // namespace gpubench
