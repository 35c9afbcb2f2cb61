#include "core/backend/cpu/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/backend/cpu/loop_kernel.h"

namespace gpubench::cpu {
namespace {

/// f(step) in double precision, written as float32.
template <class F>
std::unique_ptr<Kernel> of_step(F f) {
  return loop_kernel([f](Views inputs, Views outputs) {
    *outputs[0].as<float>() = static_cast<float>(f(static_cast<double>(*inputs[0].as<std::int64_t>())));
  });
}

}  // namespace

std::unique_ptr<Kernel> plan_cosine_decay(const CosineDecay& op, const Signature&, Device&) {
  return of_step([initial = op.initial, steps = op.decay_steps, alpha = op.alpha](double step) {
    const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * std::min(step, steps) / steps));
    return initial * ((1 - alpha) * cosine + alpha);
  });
}

std::unique_ptr<Kernel> plan_exponential_decay(const ExponentialDecay& op, const Signature&, Device&) {
  return of_step([initial = op.initial, steps = op.decay_steps, rate = op.rate, stairs = op.staircase](double step) {
    return initial * std::pow(rate, stairs ? std::floor(step / steps) : step / steps);
  });
}

}  // namespace gpubench::cpu
