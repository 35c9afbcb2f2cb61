// Creates NCCL communicators.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/base/clock.h"
#include "core/comm/communicator.h"
#include "core/group/process_group.h"

namespace gpubench {

class Device;

/// How long a rank waits for others before the run ends with PeerLost: GPUBENCH_NCCL_TIMEOUT in seconds, else 60 s.
/// Throws Error if the variable is no valid time.
Seconds nccl_patience();

/// One rank for each of this process's GPUs, in their order; a collective call if there are other processes (`group`
/// may be null). Throws Error naming: devices that are no whole GPUs; a meeting place that cannot be used; ranks with
/// different NCCL versions; a missing NCCL, or a program built without it.
std::vector<std::unique_ptr<Communicator>> make_nccl_communicators(std::span<Device* const> devices,
                                                                   ProcessGroup* group, Seconds patience);

}  // namespace gpubench
