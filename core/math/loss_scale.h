// Dynamic loss scaling as in Keras' LossScaleOptimizer: unscaling of one element, and the update rule of the scale.
#pragma once
#include <cstdint>

#include "core/math/host_device.h"

namespace gpubench::math {

GPUBENCH_HOST_DEVICE bool is_finite(float x) {
  return x - x == 0.0F;
}

/// An overflow divides the scale by `factor`, down to 1; `growth_interval` consecutive steps without one multiply it.
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
