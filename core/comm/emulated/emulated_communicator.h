// Ranks on emulated devices of one process. The hosts of all ranks meet at every collective, and each books the same
// time for it; tensors are not moved.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/comm/communicator.h"

namespace gpubench {

class Device;

/// A rank for each device, in their order.
std::vector<std::unique_ptr<Communicator>> make_emulated_communicators(std::span<Device* const> devices);

}  // namespace gpubench
