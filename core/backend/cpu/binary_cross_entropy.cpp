#include "core/backend/cpu/binary_cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "core/backend/cpu/float32_only.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/math/elementary.h"
#include "core/ops/loss.h"

namespace gpubench::cpu {
namespace {

float from_probability(float prediction, float target) {
  const float p = std::clamp(prediction, smallest_probability, 1.0F - smallest_probability);
  return -(target * std::log(p) + (1.0F - target) * std::log(1.0F - p));
}

float from_logit(float x, float target) {
  return std::max(x, 0.0F) - x * target + std::log1p(math::exp(-std::abs(x)));
}

float probability_gradient(float prediction, float target) {
  const float p = std::clamp(prediction, smallest_probability, 1.0F - smallest_probability);
  return (p - target) / (p * (1.0F - p));
}

float logit_gradient(float x, float target) {
  return 1.0F / (1.0F + math::exp(-x)) - target;
}

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
        loss[i] = from_logits ? from_logit(x[i], targets[i]) : from_probability(x[i], targets[i]);
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
        dx[i] = dloss[i] * (from_logits ? logit_gradient(x[i], targets[i]) : probability_gradient(x[i], targets[i]));
      }
    });
  });
}

}  // namespace gpubench::cpu
