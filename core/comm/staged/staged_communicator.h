// Ranks on devices whose memory the host does not reach: tensors are copied to the host, exchanged there by ranks of
// another kind, and copied back; or only kept in order with the device's kernels, where those others take them from its
// memory. The host carries that out, so nothing of it can be recorded.
#pragma once
#include <memory>

#include "core/comm/communicator.h"
#include "core/comm/staged/staged_collective.h"
#include "core/device/device.h"

namespace gpubench {

/// `inner` exchanges copies in the host's memory, or the tensors in place, and all of its ranks do so for one of these.
/// `device`, which has page-locked memory of the host, outlives it.
std::unique_ptr<Communicator> make_staged_communicator(Device& device, std::unique_ptr<Communicator> inner,
                                                       StagedTensors tensors);

}  // namespace gpubench
