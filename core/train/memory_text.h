// Memory of a training step as a table for people.
#pragma once
#include <span>
#include <string>

#include "core/exec/plan/plan_memory.h"

namespace gpubench {

/// For each device, the kinds and the layers that hold most at the peak; lines end with a line break.
std::string memory_text(std::span<const DeviceMemory> memory);

}  // namespace gpubench
