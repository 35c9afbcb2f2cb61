// Activations that wait for their gradients in the host's memory. What a layer computes and only gradients read again
// is copied away as soon as it is there, and back shortly before its first gradient. This pass runs after those that
// choose kernels, so that kernels are those of a step that keeps everything.
#pragma once
#include <functional>

#include "core/passes/pass.h"

namespace gpubench {

/// Nodes with one label stand for a layer. Kept on the device are what is read by another device, the program's
/// outputs, and what would come back before as many bytes were computed as it has: nothing would gain by its place. On
/// devices for which `overlaps` does not hold, kernels wait for every copy in any case.
Program offload(Program program, const OffloadOptions& options,
                const std::function<bool(const DeviceId& device)>& overlaps);

}  // namespace gpubench
