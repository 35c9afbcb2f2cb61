// Activations that wait for their gradients in the host's memory. What a layer computes and only gradients read again
// is copied away as soon as it is there, and back shortly before its first gradient. This pass runs last: which tensors
// gradients read is settled by the others, so that kernels are those of a step that keeps everything.
#pragma once
#include <functional>
#include <vector>

#include "core/passes/pass.h"

namespace gpubench {

struct OffloadOptions {
  /// Of these layers.
  std::vector<OwnerPtr> layers{};
  /// For how many layers a copy may take while kernels go on: it begins so many layers before its tensor is read, and
  /// the tensor keeps its place for so many after it was made. 0: kernels wait for every copy. More than overlap needs
  /// costs memory only.
  int ahead = 1;
};

/// Consecutive nodes of one owner in one role count as a layer. Kept on the device are what another device reads, the
/// program's outputs, and tensors that would come back before kernels have written as many bytes as they have: nothing
/// else could use their memory. On devices for which `overlaps` does not hold, kernels wait for every copy.
Program offload(Program program, const OffloadOptions& options,
                const std::function<bool(const DeviceId& device)>& overlaps);

}  // namespace gpubench
