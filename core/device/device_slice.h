// A part of a device that its driver has split: its compute units and its memory are its own.
#pragma once
#include <cstddef>
#include <string>

namespace gpubench {

struct DeviceSlice {
  std::string profile;  ///< the driver's name of its size, "1g.10gb"
  int compute_units = 0;
  std::size_t memory_bytes = 0;
};

}  // namespace gpubench
