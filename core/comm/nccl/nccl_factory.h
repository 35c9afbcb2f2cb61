// Makes communicators over NCCL.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/base/clock.h"
#include "core/comm/communicator.h"
#include "core/group/process_group.h"

namespace gpubench {

/// How long a rank waits for others before all are told that one is lost: GPUBENCH_NCCL_TIMEOUT, in seconds, else 60 s.
/// Throws Error where that is no time.
Seconds nccl_patience();

/// One rank for each of this process's GPUs, in their order; a collective call with other processes, of which `group`
/// may be null. Throws Error naming devices that are no GPUs, or shares of one; the place that cannot be had; ranks
/// with NCCL of different versions; where there is no NCCL, or the program was built without it.
std::vector<std::unique_ptr<Communicator>> make_nccl_communicators(std::span<Device* const> devices,
                                                                   ProcessGroup* group, Seconds patience);

}  // namespace gpubench
