#include "core/backend/cuda/loss_scale.h"

#include <algorithm>

#include "core/backend/cuda/kernels/loss_scale.h"
#include "core/backend/cuda/launch_kernel.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_unscale(const Unscale& op, const Signature&, Device& device) {
  return launch_kernel(
      op, device, [count = static_cast<std::size_t>(op.gradients)](const LaunchOn& on, Views inputs, Views outputs) {
        bool* const found = outputs[count].as<bool>();
        if (const cudaError_t status = cudaMemsetAsync(found, 0, sizeof(bool), on.stream); status != cudaSuccess)
          return status;
        for (std::size_t begin = 0; begin < count; begin += unscale_capacity) {
          UnscaleTensors tensors;
          tensors.count = static_cast<int>(std::min<std::size_t>(count - begin, unscale_capacity));
          for (std::size_t i = 0; i < static_cast<std::size_t>(tensors.count); ++i) {
            const TensorView& gradient = inputs[1 + begin + i];
            tensors.elements[i] = gradient.elements();
            tensors.type[i] = gradient.type->dtype;
            tensors.gradient[i] = gradient.data;
            tensors.unscaled[i] = outputs[begin + i].as<float>();
          }
          const cudaError_t status = launch_unscale(on, tensors, inputs[0].as<float>(), found);
          if (status != cudaSuccess) return status;
        }
        return cudaSuccess;
      });
}

std::unique_ptr<Kernel> plan_loss_scale_update(const LossScaleUpdate& op, const Signature&, Device& device) {
  const math::LossScale rule{static_cast<float>(op.factor), op.growth_interval};
  return launch_kernel(op, device, [rule](const LaunchOn& on, Views inputs, Views) {
    return launch_loss_scale_update(on, rule, inputs[0].as<float>(), inputs[1].as<std::int64_t>(),
                                    inputs[2].as<bool>());
  });
}

}  // namespace gpubench::cuda
