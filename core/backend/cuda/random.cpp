#include "core/backend/cuda/kernels/random.h"

#include <algorithm>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/status.h"
#include "core/ops/random.h"

namespace gpubench::cuda {
namespace {

/// The steps are the last input.
Draw draw_of(std::uint64_t seed, Views inputs, Views outputs, std::int64_t first = 0) {
  const std::int64_t parts = inputs.back().elements();
  return {.seed = seed,
          .steps = inputs.back().as<std::int64_t>(),
          .parts = parts,
          .elements = outputs[0].elements() / std::max<std::int64_t>(parts, 1),
          .first = first};
}

/// Dropout and its gradient.
template <class Drop>
std::unique_ptr<Kernel> plan_dropout(const Drop& op, const Signature& signature, Device& device) {
  const Dtype type = signature.inputs[0].dtype;
  require_floating(op, signature.inputs[0]);
  const auto threshold = static_cast<std::uint32_t>(op.rate * 0x1p32);
  const auto scale = static_cast<float>(1 / (1 - op.rate));
  return launch_kernel(
      op, device,
      [seed = op.seed, first = op.first, threshold, scale, type](const LaunchOn& on, Views inputs, Views outputs) {
        return launch_dropout(on, draw_of(seed, inputs, outputs, first), threshold, scale, type, inputs[0].data,
                              outputs[0].data);
      });
}

std::unique_ptr<Kernel> plan_random_uniform(const RandomUniform& op, const Signature&, Device& device) {
  return launch_kernel(op, device,
                       [seed = op.seed, low = static_cast<float>(op.low), range = static_cast<float>(op.high - op.low)](
                           const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_random_uniform(on, draw_of(seed, inputs, outputs), low, range,
                                                      outputs[0].as<float>());
                       });
}

std::unique_ptr<Kernel> plan_random_normal(const RandomNormal& op, const Signature&, Device& device) {
  return launch_kernel(op, device,
                       [seed = op.seed, mean = static_cast<float>(op.mean), stddev = static_cast<float>(op.stddev)](
                           const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_random_normal(on, draw_of(seed, inputs, outputs), mean, stddev,
                                                     outputs[0].as<float>());
                       });
}

}  // namespace

void add_random(KernelTable& table) {
  add_row<&plan_dropout<Dropout>>(table);
  add_row<&plan_dropout<DropoutGradient>>(table);
  add_row<&plan_random_uniform>(table);
  add_row<&plan_random_normal>(table);
}

}  // namespace gpubench::cuda
