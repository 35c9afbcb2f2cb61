// Ranks on devices whose memory the host cannot access. Either tensors are copied to the host, exchanged there by an
// inner communicator, and copied back; or the inner communicator accesses device memory and only the order with the
// kernels is kept here. The host takes part in both, so neither can be recorded.
#pragma once
#include <memory>

#include "core/comm/communicator.h"
#include "core/comm/staged/staged_collective.h"

namespace gpubench {

class Device;

/// `inner` exchanges copies in host memory, or the tensors in place; all of its ranks must be wrapped this way.
/// `device`, which must have page-locked host memory, must outlive the communicator.
std::unique_ptr<Communicator> make_staged_communicator(Device& device, std::unique_ptr<Communicator> inner,
                                                       StagedTensors tensors);

}  // namespace gpubench
