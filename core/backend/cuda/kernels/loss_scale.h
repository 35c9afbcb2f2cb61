// Unscaling of all gradients by few launches, one for every `unscale_capacity` tensors, and the scale's own update.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/math/loss_scale.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

inline constexpr int unscale_capacity = 64;

struct UnscaleTensors {
  int count = 0;
  std::int64_t elements[unscale_capacity] = {};
  const void* gradient[unscale_capacity] = {};
  float* unscaled[unscale_capacity] = {};  ///< may be the gradient's memory
  Dtype type[unscale_capacity] = {};
};

/// Sets *found where an element is not finite, and never clears it.
cudaError_t launch_unscale(const LaunchOn& on, const UnscaleTensors& tensors, const float* scale, bool* found);
cudaError_t launch_loss_scale_update(const LaunchOn& on, const math::LossScale& rule, float* scale,
                                     std::int64_t* good_steps, const bool* found);

}  // namespace gpubench::cuda
