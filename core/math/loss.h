// Binary cross-entropy and its derivative, from probabilities and from logits, with a lower limit for probabilities.
#pragma once
#include <cmath>

#include "core/math/elementary.h"
#include "core/math/host_device.h"

namespace gpubench::math {

inline constexpr float smallest_probability = 1e-7F;

/// Keeps NaN.
GPUBENCH_HOST_DEVICE float above_zero(float p) {
  return p < smallest_probability ? smallest_probability : p;
}
GPUBENCH_HOST_DEVICE float within_zero_and_one(float p) {
  const float largest = 1.0F - smallest_probability;
  return p > largest ? largest : above_zero(p);
}

struct BinaryCrossEntropy {
  GPUBENCH_HOST_DEVICE float operator()(float prediction, float target) const {
    const float p = within_zero_and_one(prediction);
    return -(target * logf(p) + (1.0F - target) * logf(1.0F - p));
  }
};
struct BinaryCrossEntropyOfLogit {
  GPUBENCH_HOST_DEVICE float operator()(float x, float target) const {
    return (x > 0.0F ? x : 0.0F) - x * target + log1pf(exp(x > 0.0F ? -x : x));
  }
};
struct BinaryCrossEntropyGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dloss, float prediction, float target) const {
    const float p = within_zero_and_one(prediction);
    return dloss * ((p - target) / (p * (1.0F - p)));
  }
};
struct BinaryCrossEntropyOfLogitGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dloss, float x, float target) const {
    return dloss * (sigmoid(x) - target);
  }
};

}  // namespace gpubench::math
