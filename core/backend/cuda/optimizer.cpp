#include "core/backend/cuda/kernels/optimizer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/ops/loss_scale.h"
#include "core/ops/optimizer.h"

namespace gpubench::cuda {
namespace {

/// launch(on, tensors, scalars) for every group of variables that one launch holds.
template <class Launch>
std::unique_ptr<Kernel> plan_update(const OptimizerUpdate& op, Device& device, Launch launch) {
  const auto first = static_cast<std::size_t>(op.leading()), count = static_cast<std::size_t>(op.variables);
  const auto slots = static_cast<std::size_t>(op.slots());
  const bool counts_steps = op.counts_steps(), skippable = op.skippable;
  return launch_kernel(op, device, [=](const LaunchOn& on, Views inputs, Views) {
    const UpdateScalars scalars{inputs[0].as<float>(), counts_steps ? inputs[1].as<std::int64_t>() : nullptr,
                                skippable ? inputs[first - 1].as<bool>() : nullptr};
    for (std::size_t begin = 0; begin < count; begin += update_capacity) {
      UpdateTensors tensors;
      tensors.type = inputs[first].type->dtype;
      tensors.count = static_cast<int>(std::min<std::size_t>(count - begin, update_capacity));
      for (std::size_t i = 0; i < static_cast<std::size_t>(tensors.count); ++i) {
        const auto memory = [&](std::size_t group) { return inputs[first + group * count + begin + i].data; };
        tensors.elements[i] = inputs[first + begin + i].elements();
        tensors.variable[i] = memory(0);
        tensors.gradient[i] = memory(1);
        tensors.gradient_type[i] = inputs[first + count + begin + i].type->dtype;
        for (std::size_t s = 0; s < slots; ++s) tensors.slot[s][i] = memory(2 + s);
      }
      if (const cudaError_t status = launch(on, tensors, scalars); status != cudaSuccess) return status;
    }
    return cudaSuccess;
  });
}

std::unique_ptr<Kernel> plan_sgd_update(const SgdUpdate& op, const Signature&, Device& device) {
  const SgdConstants constants{static_cast<float>(op.settings.momentum), static_cast<float>(op.settings.weight_decay),
                               op.settings.nesterov};
  return plan_update(op, device, [constants](const auto& on, const auto& tensors, const auto& scalars) {
    return launch_sgd(on, tensors, scalars, constants);
  });
}

std::unique_ptr<Kernel> plan_adam_update(const AdamUpdate& op, const Signature&, Device& device) {
  const AdamAttributes& settings = op.settings;
  const AdamConstants constants{
      static_cast<float>(1 - settings.beta1),       static_cast<float>(1 - settings.beta2),
      static_cast<float>(std::log(settings.beta1)), static_cast<float>(std::log(settings.beta2)),
      static_cast<float>(settings.epsilon),         static_cast<float>(settings.weight_decay)};
  return plan_update(op, device, [constants](const auto& on, const auto& tensors, const auto& scalars) {
    return launch_adam(on, tensors, scalars, constants);
  });
}

std::unique_ptr<Kernel> plan_rmsprop_update(const RmspropUpdate& op, const Signature&, Device& device) {
  const RmspropConstants constants{static_cast<float>(op.settings.rho), static_cast<float>(op.settings.epsilon),
                                   static_cast<float>(op.settings.momentum), op.settings.centered};
  return plan_update(op, device, [constants](const auto& on, const auto& tensors, const auto& scalars) {
    return launch_rmsprop(on, tensors, scalars, constants);
  });
}

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

}  // namespace

void add_optimizer(KernelTable& table) {
  add_row<&plan_sgd_update>(table);
  add_row<&plan_adam_update>(table);
  add_row<&plan_rmsprop_update>(table);
  add_row<&plan_unscale>(table);
  add_row<&plan_loss_scale_update>(table);
}

}  // namespace gpubench::cuda
