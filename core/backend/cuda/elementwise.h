// Plans element-wise ops: computes how each input is broadcast to the output.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/backend/cuda/kernels/elementwise.h"

namespace gpubench::cuda {

/// Throws Error where more than eight dimensions are left after merging.
ElementwiseAccess elementwise_access(const Op& op, const Signature& signature);

/// A kernel of the op's first output, with any launch that takes an access.
std::unique_ptr<Kernel> plan_elementwise(const Op& op, const Signature& signature, Device& device,
                                         ElementwiseLaunch launch);

/// The planner of any op that applies the function F of core/math.
template <class F>
std::unique_ptr<Kernel> plan_function(const Op& op, const Signature& signature, Device& device) {
  return plan_elementwise(op, signature, device, elementwise_launch<F>());
}

}  // namespace gpubench::cuda
