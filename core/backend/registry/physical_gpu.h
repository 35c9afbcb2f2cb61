// Which GPU a device is, or is a share of.
#pragma once
#include <optional>

#include "core/device/device.h"

namespace gpubench {

/// As CUDA and its tracer count the GPUs that the process sees; none for the host's processor.
std::optional<int> physical_gpu(const Device& device);

}  // namespace gpubench
