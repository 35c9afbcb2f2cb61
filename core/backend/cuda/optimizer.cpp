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
  const bool counts_steps = op.counts_steps(), skippable = op.skippable, limits_norm = op.limits_norm();
  const bool multiplies = op.multiplies_momentum();
  const auto squares = static_cast<std::size_t>(op.squares_input());
  const auto run = [=, clip = op.clip](const LaunchOn& on, Views inputs, Views) {
    UpdateScalars scalars{.learning_rate = inputs[0].as<float>(),
                          .step = counts_steps ? inputs[1].as<std::int64_t>() : nullptr,
                          .momentum_product = multiplies ? inputs[2].as<float>() : nullptr,
                          .skip = skippable ? inputs[first - 1].as<bool>() : nullptr,
                          .squares = nullptr,
                          .of_all = clip.global,
                          .norm = static_cast<float>(clip.norm),
                          .limit = static_cast<float>(clip.value)};
    for (std::size_t begin = 0; begin < count; begin += update_capacity) {
      if (limits_norm) scalars.squares = inputs[squares].as<float>() + (clip.global ? 0 : begin);
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
      const cudaError_t status = launch(on, tensors, scalars);
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  };
  return launch_kernel(op, device, run);
}

std::unique_ptr<Kernel> plan_sgd_update(const SgdUpdate& op, const Signature&, Device& device) {
  const SgdConstants constants{static_cast<float>(op.settings.momentum), static_cast<float>(op.settings.weight_decay),
                               op.settings.nesterov};
  return plan_update(op, device,
                     [constants](const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars) {
                       return launch_sgd(on, tensors, scalars, constants);
                     });
}

std::unique_ptr<Kernel> plan_lion_update(const LionUpdate& op, const Signature&, Device& device) {
  const LionAttributes& settings = op.settings;
  const LionConstants constants{static_cast<float>(settings.beta1), static_cast<float>(1 - settings.beta1),
                                static_cast<float>(settings.beta2), static_cast<float>(1 - settings.beta2),
                                static_cast<float>(settings.weight_decay)};
  return plan_update(op, device,
                     [constants](const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars) {
                       return launch_lion(on, tensors, scalars, constants);
                     });
}

std::unique_ptr<Kernel> plan_adam_update(const AdamUpdate& op, const Signature&, Device& device) {
  const AdamAttributes& settings = op.settings;
  const AdamConstants constants{
      static_cast<float>(1 - settings.beta1),       static_cast<float>(1 - settings.beta2),
      static_cast<float>(std::log(settings.beta1)), static_cast<float>(std::log(settings.beta2)),
      static_cast<float>(settings.epsilon),         static_cast<float>(settings.weight_decay)};
  return plan_update(op, device,
                     [constants](const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars) {
                       return launch_adam(on, tensors, scalars, constants);
                     });
}

std::unique_ptr<Kernel> plan_rmsprop_update(const RmspropUpdate& op, const Signature&, Device& device) {
  const RmspropConstants constants{static_cast<float>(op.settings.rho), static_cast<float>(op.settings.epsilon),
                                   static_cast<float>(op.settings.momentum),
                                   static_cast<float>(op.settings.weight_decay), op.settings.centered};
  return plan_update(op, device,
                     [constants](const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars) {
                       return launch_rmsprop(on, tensors, scalars, constants);
                     });
}

std::unique_ptr<Kernel> plan_rule_update(const RuleUpdate& op, const Signature&, Device& device) {
  return with_rule(op.settings.rule, [&]<class F>(std::type_identity<F>, auto slots) {
    return plan_update(op, device,
                       [settings = settings_of(op.settings)](const LaunchOn& on, const UpdateTensors& tensors,
                                                             const UpdateScalars& scalars) {
                         return launch_rule<F, decltype(slots)::value>(on, tensors, scalars, settings);
                       });
  });
}

/// Partial sums of all tensors, then the sums.
std::unique_ptr<Kernel> plan_sums_of_squares(const SumsOfSquares& op, const Signature& signature, Device& device) {
  std::int64_t tiles = 0;
  for (const TensorType& type : signature.inputs) tiles += squares_tiles(type.elements());
  const auto run = [tiles, of_all = op.of_all](const LaunchOn& on, Views inputs, Views outputs,
                                               std::span<std::byte> workspace) {
    auto* const partial = reinterpret_cast<float*>(workspace.data());
    float* const sums = outputs[0].as<float>();
    std::int64_t first = 0;  // partial sum of the group
    for (std::size_t begin = 0; begin < inputs.size(); begin += squares_capacity) {
      SquaresTensors tensors;
      SumRanges ranges;
      ranges.count = tensors.count = static_cast<int>(std::min<std::size_t>(inputs.size() - begin, squares_capacity));
      ranges.begin = first;
      for (std::size_t i = 0; i < static_cast<std::size_t>(tensors.count); ++i) {
        const TensorView& tensor = inputs[begin + i];
        tensors.elements[i] = tensor.elements();
        tensors.tensor[i] = tensor.data;
        tensors.type[i] = tensor.type->dtype;
        ranges.ends[i] = (i == 0 ? first : ranges.ends[i - 1]) + squares_tiles(tensor.elements());
      }
      cudaError_t status = launch_squares(on, tensors, partial + first);
      if (status == cudaSuccess && !of_all) status = launch_sum_ranges(on, ranges, partial, sums + begin);
      if (status != cudaSuccess) return status;
      first = ranges.ends[tensors.count - 1];
    }
    if (!of_all) return cudaSuccess;
    SumRanges all{.count = 1};
    all.ends[0] = tiles;
    return launch_sum_ranges(on, all, partial, sums);
  };
  return launch_kernel(op, device, run, static_cast<std::size_t>(tiles) * sizeof(float));
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
  add_row<&plan_lion_update>(table);
  add_row<&plan_rmsprop_update>(table);
  add_row<&plan_rule_update>(table);
  add_row<&plan_sums_of_squares>(table);
  add_row<&plan_unscale>(table);
  add_row<&plan_loss_scale_update>(table);
}

}  // namespace gpubench::cuda
