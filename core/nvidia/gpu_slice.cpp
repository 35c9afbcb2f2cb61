#include "core/nvidia/gpu_slice.h"

namespace gpubench {

std::optional<DeviceSlice> slice_of(std::string_view name, int multiprocessors, std::size_t memory_bytes) {
  constexpr std::string_view mark = " MIG ";
  const std::size_t at = name.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  return DeviceSlice{std::string(name.substr(at + mark.size())), multiprocessors, memory_bytes};
}

}  // namespace gpubench
