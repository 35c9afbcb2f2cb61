#include "core/backend/cpu/binary_cross_entropy.h"

#include "core/backend/cpu/float32_only.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/math/loss.h"

namespace gpubench::cpu {
namespace {

constexpr std::int64_t cost_per_element = 16;

}  // namespace

std::unique_ptr<Kernel> plan_binary_cross_entropy(const BinaryCrossEntropy& op, const Signature& signature,
                                                  Device& device) {
  require_float32(op.name(), signature.inputs[0]);
  device.bind_to_thread();
  const std::int64_t count = signature.inputs[0].elements();
  const int threads = threads_for(count, count * cost_per_element);
  return loop_kernel([count, threads, from_logits = op.from_logits](Views inputs, Views outputs) {
    const float *const x = inputs[0].as<float>(), *const targets = inputs[1].as<float>();
    float* const loss = outputs[0].as<float>();
    parallel_ranges(threads, count, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        loss[i] = from_logits ? math::BinaryCrossEntropyOfLogit{}(x[i], targets[i])
                              : math::BinaryCrossEntropy{}(x[i], targets[i]);
      }
    });
  });
}

std::unique_ptr<Kernel> plan_binary_cross_entropy_gradient(const BinaryCrossEntropyGradient& op,
                                                           const Signature& signature, Device& device) {
  require_float32(op.name(), signature.inputs[0]);
  device.bind_to_thread();
  const std::int64_t count = signature.inputs[0].elements();
  const int threads = threads_for(count, count * cost_per_element);
  return loop_kernel([count, threads, from_logits = op.from_logits](Views inputs, Views outputs) {
    const float *const dloss = inputs[0].as<float>(), *const x = inputs[1].as<float>();
    const float* const targets = inputs[2].as<float>();
    float* const dx = outputs[0].as<float>();
    parallel_ranges(threads, count, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        dx[i] = from_logits ? math::BinaryCrossEntropyOfLogitGradient{}(dloss[i], x[i], targets[i])
                            : math::BinaryCrossEntropyGradient{}(dloss[i], x[i], targets[i]);
      }
    });
  });
}

}  // namespace gpubench::cpu
