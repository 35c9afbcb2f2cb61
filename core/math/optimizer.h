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
  float learning_rate, rho, epsilon;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& mean_square) const {
    mean_square = rho * mean_square + (1.0F - rho) * g * g;
    w -= learning_rate * g / sqrtf(mean_square + epsilon);
  }
};

struct RmspropMomentum {
  float learning_rate, rho, epsilon, momentum;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& mean_square, float& velocity) const {
    mean_square = rho * mean_square + (1.0F - rho) * g * g;
    velocity = momentum * velocity + learning_rate * g / sqrtf(mean_square + epsilon);
    w -= velocity;
  }
};

struct RmspropCentered {
  float learning_rate, rho, epsilon;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& mean_square, float& mean) const {
    mean_square = rho * mean_square + (1.0F - rho) * g * g;
    mean = rho * mean + (1.0F - rho) * g;
    w -= learning_rate * g / sqrtf(mean_square - mean * mean + epsilon);
  }
};

struct RmspropCenteredMomentum {
  float learning_rate, rho, epsilon, momentum;

  GPUBENCH_HOST_DEVICE void operator()(float& w, float g, float& mean_square, float& velocity, float& mean) const {
    mean_square = rho * mean_square + (1.0F - rho) * g * g;
    mean = rho * mean + (1.0F - rho) * g;
    velocity = momentum * velocity + learning_rate * g / sqrtf(mean_square - mean * mean + epsilon);
    w -= velocity;
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
