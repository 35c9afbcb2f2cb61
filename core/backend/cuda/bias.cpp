#include "core/backend/cuda/bias.h"

#include "core/backend/cuda/kernels/bias.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/reduce.h"
#include "core/backend/cuda/refuse.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_bias_add(const BiasAdd& op, const Signature& signature, Device& device) {
  const TensorType& x = signature.inputs[0];
  require_floating(op, x);
  return launch_kernel(op, device,
                       [elements = x.elements(), channels = x.shape.back(), type = x.dtype](
                           const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_bias_add(on, elements, channels, type, outputs[0].data, inputs[0].data,
                                                inputs[1].data);
                       });
}

std::unique_ptr<Kernel> plan_bias_gradient(const BiasGradient& op, const Signature& signature, Device& device) {
  const TensorType& dy = signature.inputs[0];
  require_floating(op, dy);
  std::vector<bool> reduced(dy.shape.size(), true);
  reduced.back() = false;
  return plan_passes(op, signature, device, Reduction::sum, reduce_passes(dy.shape, reduced));
}

}  // namespace gpubench::cuda
