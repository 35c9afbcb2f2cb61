// The highest copy rates to, from and on a device, by measurement: the reference for copies, as a large matrix product
// is for arithmetic.
#pragma once
#include <map>
#include <optional>
#include <string>

namespace gpubench {

class Device;

/// Bytes per second of the fastest of several large copies. Between host and device from page-locked memory; empty for
/// devices that work in host memory.
struct CopyRates {
  std::optional<double> to_device, from_device;
  double on_device = 0;  ///< counts both read and written bytes, as memory bandwidths do
};

/// Takes about a tenth of a second, and no time on an emulated device. None if the memory does not suffice.
std::optional<CopyRates> best_copy_rates(Device& device);

/// Caches measured rates by the device's id and description, because a device may be split differently later. Those of
/// emulated devices are computed again at each call, because a script may change their profile.
class CopyPeak {
 public:
  std::optional<CopyRates> rates(Device& device);
  /// Only what was measured before.
  std::optional<CopyRates> known_rates(const Device& device) const;

  using Known = std::map<std::string, CopyRates>;
  const Known& known() const { return known_; }

 private:
  Known known_;
};

}  // namespace gpubench
