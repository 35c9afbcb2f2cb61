// Parts of a GPU that NVIDIA's driver has split (MIG). CUDA shows the part as the device, while NVML's sensors at the
// same bus id are those of the whole GPU.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/device/device_slice.h"

namespace gpubench {

/// The slice that CUDA's name of a device says it is: "NVIDIA H100 80GB HBM3 MIG 1g.10gb". nullopt for a whole GPU.
std::optional<DeviceSlice> slice_of(std::string_view name, int multiprocessors, std::size_t memory_bytes);

}  // namespace gpubench
