// The highest rate of copies to, from and on a device, measured and not looked up: the reference for copies, as a large
// matrix product is for arithmetic.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "core/device/device.h"

namespace gpubench {

/// Bytes per second of large copies, the fastest of several. Between host and device from page-locked memory; empty for
/// devices that work in the host's memory, where there is no such way.
struct CopyRates {
  std::optional<double> to_device, from_device;
  double on_device = 0;  ///< read and written both counted, as memory bandwidths are
};

/// Takes about a tenth of a second. None where the memory does not suffice.
std::optional<CopyRates> best_copy_rates(Device& device);

/// Remembers what was measured, by the device's id and description, since it may be split anew.
class CopyPeak {
 public:
  std::optional<CopyRates> rates(Device& device);

  using Known = std::map<std::string, CopyRates>;
  const Known& known() const { return known_; }

 private:
  Known known_;
};

}  // namespace gpubench
