// The update of one element for each optimizer, as function objects over the variable w, its gradient g and its state.
// Formulas as in Keras 3. `decay` is learning rate times weight decay, applied to the variable itself.
#pragma once
#include <cmath>
#include <cstdint>

#include "core/math/host_device.h"

namespace gpubench::math {

/// What an update does to a gradient before it uses it. Keeps NaN.
struct ClipGradient {
  float factor, limit;

  GPUBENCH_HOST_DEVICE float operator()(float g) const {
    const float scaled = g * factor;
    return scaled > limit ? limit : (scaled < -limit ? -limit : scaled);
  }
};

/// The factor that limits a norm, given as its square, to `limit`. NaN for a norm that is not finite, so that a
/// diverged model is visible.
GPUBENCH_HOST_DEVICE float factor_of_norm(float square, float limit) {
  const float norm = sqrtf(square);
  return limit / (norm > limit ? norm : limit) + (square - square);
}

struct Sgd {
  float learning_rate, decay;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g) const { w -= decay * w + learning_rate * g; }
};

struct SgdMomentum {
  float learning_rate, decay, momentum;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& velocity) const {
    velocity = momentum * velocity - learning_rate * g;
    w += velocity - decay * w;
  }
};

struct SgdNesterov {
  float learning_rate, decay, momentum;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& velocity) const {
    velocity = momentum * velocity - learning_rate * g;
    w += momentum * velocity - learning_rate * g - decay * w;
  }
};

/// `rate` is the learning rate with both bias corrections: lr * sqrt(1 - beta2^t) / (1 - beta1^t).
struct Adam {
  float rate, decay, one_minus_beta1, one_minus_beta2, epsilon;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& m, float& v) const {
    m += (g - m) * one_minus_beta1;
    v += (g * g - v) * one_minus_beta2;
    w -= decay * w + rate * m / (sqrtf(v) + epsilon);
  }
};

/// The step has the sign of a mixture of momentum and gradient; NaN stays NaN.
struct Lion {
  float learning_rate, decay, beta1, one_minus_beta1, beta2, one_minus_beta2;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& momentum) const {
    const float mixed = beta1 * momentum + one_minus_beta1 * g;
    const float sign = mixed > 0.0F ? 1.0F : (mixed < 0.0F ? -1.0F : mixed);
    w -= decay * w + learning_rate * sign;
    momentum = beta2 * momentum + one_minus_beta2 * g;
  }
};

struct Rmsprop {
  float learning_rate, decay, rho, epsilon;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& mean_square) const {
    mean_square = rho * mean_square + (1.0F - rho) * g * g;
    w -= decay * w + learning_rate * g / sqrtf(mean_square + epsilon);
  }
};

struct RmspropMomentum {
  float learning_rate, decay, rho, epsilon, momentum;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& mean_square, float& velocity) const {
    mean_square = rho * mean_square + (1.0F - rho) * g * g;
    velocity = momentum * velocity + learning_rate * g / sqrtf(mean_square + epsilon);
    w -= decay * w + velocity;
  }
};

struct RmspropCentered {
  float learning_rate, decay, rho, epsilon;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& mean_square, float& mean) const {
    mean_square = rho * mean_square + (1.0F - rho) * g * g;
    mean = rho * mean + (1.0F - rho) * g;
    w -= decay * w + learning_rate * g / sqrtf(mean_square - mean * mean + epsilon);
  }
};

struct RmspropCenteredMomentum {
  float learning_rate, decay, rho, epsilon, momentum;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& mean_square, float& velocity, float& mean) const {
    mean_square = rho * mean_square + (1.0F - rho) * g * g;
    mean = rho * mean + (1.0F - rho) * g;
    velocity = momentum * velocity + learning_rate * g / sqrtf(mean_square - mean * mean + epsilon);
    w -= decay * w + velocity;
  }
};

/// Settings of the rules below, as their functions read them.
struct RuleSettings {
  float beta1, one_minus_beta1, log_beta1, beta2, one_minus_beta2, log_beta2, epsilon, weight_decay;
  std::int64_t every;
};

/// What changes from step to step; `step` is 1 at the first update.
struct RuleStep {
  float learning_rate;
  std::int64_t step;
  float momentum_product;  ///< NadamMomentum of the step

  /// 1 - beta^step, without the cancellation that a beta near 1 brings in float32.
  GPUBENCH_HOST_DEVICE float correction(float log_beta) const { return -expm1f(static_cast<float>(step) * log_beta); }
};

/// w becomes its moving average with g: g itself at the first step. With `every` it is g in each of so many steps, and
/// stays as it is in the others.
struct Average {
  float kept;

  GPUBENCH_HOST_DEVICE Average(const RuleSettings& of, const RuleStep& at) : kept(at.step == 1 ? 0.0F : of.beta1) {
    if (of.every == 0) return;
    // In doubles, because a division of 64-bit integers takes about 70 instructions.
    const auto number = static_cast<double>(at.step), every = static_cast<double>(of.every);
    kept = floor(number / every) * every == number ? 0.0F : 1.0F;
  }
  GPUBENCH_HOST_DEVICE void operator()(float& w, float g) const { w = kept * w + (1.0F - kept) * g; }
};

struct Adagrad {
  float rate, decay, epsilon;

  GPUBENCH_HOST_DEVICE Adagrad(const RuleSettings& of, const RuleStep& at)
      : rate(at.learning_rate), decay(rate * of.weight_decay), epsilon(of.epsilon) {}
  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& sum) const {
    sum += g * g;
    w -= decay * w + rate * g / sqrtf(sum + epsilon);
  }
};

/// `beta1` is Keras' rho.
struct Adadelta {
  float rate, decay, rho, one_minus_rho, epsilon;

  GPUBENCH_HOST_DEVICE Adadelta(const RuleSettings& of, const RuleStep& at)
      : rate(at.learning_rate),
        decay(rate * of.weight_decay),
        rho(of.beta1),
        one_minus_rho(of.one_minus_beta1),
        epsilon(of.epsilon) {}
  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& mean_square, float& mean_change) const {
    mean_square = rho * mean_square + one_minus_rho * g * g;
    const float change = sqrtf((mean_change + epsilon) / (mean_square + epsilon)) * g;
    mean_change = rho * mean_change + one_minus_rho * change * change;
    w -= decay * w + rate * change;
  }
};

struct Adamax {
  float rate, decay, one_minus_beta1, beta2, epsilon;

  GPUBENCH_HOST_DEVICE Adamax(const RuleSettings& of, const RuleStep& at)
      : rate(at.learning_rate / at.correction(of.log_beta1)),
        decay(at.learning_rate * of.weight_decay),
        one_minus_beta1(of.one_minus_beta1),
        beta2(of.beta2),
        epsilon(of.epsilon) {}
  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& m, float& u) const {
    m += (g - m) * one_minus_beta1;
    const float kept = beta2 * u, now = fabsf(g);
    u = kept > now ? kept : now;
    w -= decay * w + rate * m / (u + epsilon);
  }
};

/// The momentum of step t is beta1 (1 - 0.96^t / 2); `of_m` and `of_g` weigh that of the next step and the gradient.
struct Nadam {
  float rate, decay, one_minus_beta1, one_minus_beta2, epsilon, v_correction;
  float of_m = 0, of_g = 0;

  GPUBENCH_HOST_DEVICE Nadam(const RuleSettings& of, const RuleStep& at)
      : rate(at.learning_rate),
        decay(rate * of.weight_decay),
        one_minus_beta1(of.one_minus_beta1),
        one_minus_beta2(of.one_minus_beta2),
        epsilon(of.epsilon),
        v_correction(1.0F / at.correction(of.log_beta2)) {
    const float share = 0.5F * powf(0.96F, static_cast<float>(at.step));
    const float now = of.beta1 * (1.0F - share), next = of.beta1 * (1.0F - 0.96F * share);
    of_m = next / (1.0F - at.momentum_product * next);
    of_g = (1.0F - now) / (1.0F - at.momentum_product);
  }
  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& m, float& v) const {
    m += (g - m) * one_minus_beta1;
    v += (g * g - v) * one_minus_beta2;
    w -= decay * w + rate * (of_m * m + of_g * g) / (sqrtf(v * v_correction) + epsilon);
  }
};

/// Adam with the largest v so far.
struct Amsgrad {
  float rate, decay, one_minus_beta1, one_minus_beta2, epsilon;

  GPUBENCH_HOST_DEVICE Amsgrad(const RuleSettings& of, const RuleStep& at)
      : rate(at.learning_rate * sqrtf(at.correction(of.log_beta2)) / at.correction(of.log_beta1)),
        decay(at.learning_rate * of.weight_decay),
        one_minus_beta1(of.one_minus_beta1),
        one_minus_beta2(of.one_minus_beta2),
        epsilon(of.epsilon) {}
  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& m, float& v, float& largest) const {
    m += (g - m) * one_minus_beta1;
    v += (g * g - v) * one_minus_beta2;
    largest = largest > v ? largest : v;
    w -= decay * w + rate * m / (sqrtf(largest) + epsilon);
  }
};

GPUBENCH_HOST_DEVICE bool is_finite(float x) {
  return x - x == 0.0F;
}

/// The update rule of dynamic loss scaling, as in Keras' LossScaleOptimizer: an overflow divides the scale by `factor`,
/// down to 1; `growth_interval` consecutive steps without one multiply it.
struct LossScale {
  float factor;
  std::int64_t growth_interval;

  GPUBENCH_HOST_DEVICE void operator()(float& scale, std::int64_t& good_steps, bool found_infinity) const {
    if (found_infinity) {
      const float less = scale / factor;
      scale = less < 1.0F ? 1.0F : less;
      good_steps = 0;
      return;
    }
    if (++good_steps < growth_interval) return;
    const float more = scale * factor;
    if (is_finite(more)) scale = more;
    good_steps = 0;
  }
};

}  // namespace gpubench::math
