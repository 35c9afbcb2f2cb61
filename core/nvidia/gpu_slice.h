// A part of a GPU that NVIDIA's driver has split (MIG): its multiprocessors and its memory are its own. CUDA shows the
// part as the device, while NVML's sensors at the same bus id are those of the whole GPU.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpubench {

struct GpuSlice {
  std::string profile;  ///< "1g.10gb"
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
};

/// The slice that CUDA's name of a device says it is: "NVIDIA H100 80GB HBM3 MIG 1g.10gb". nullopt for a whole GPU.
std::optional<GpuSlice> slice_of(std::string_view name, int multiprocessors, std::size_t memory_bytes);

}  // namespace gpubench
