// Updates all variables of a model, and unscales their gradients, in few launches: one for every `update_capacity`
// variables or `unscale_capacity` gradients.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/math/optimizer.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

inline constexpr int update_capacity = 32;
inline constexpr int max_slots = 3;

/// Variables with their gradients and optimizer state; computed in float32.
struct UpdateTensors {
  int count = 0;
  Dtype type = Dtype::f32;  ///< of variables and state; gradients have their own
  std::int64_t elements[update_capacity] = {};
  void* variable[update_capacity] = {};
  const void* gradient[update_capacity] = {};
  Dtype gradient_type[update_capacity] = {};
  void* slot[max_slots][update_capacity] = {};
};

/// Scalars that may change from step to step; in GPU memory.
struct UpdateScalars {
  const float* learning_rate = nullptr;
  const std::int64_t* step = nullptr;  ///< for Adam only: 1 at the first update
  const bool* skip = nullptr;          ///< if given and true, nothing is updated
};

struct SgdConstants {
  float momentum = 0, weight_decay = 0;
  bool nesterov = false;
};
cudaError_t launch_sgd(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                       const SgdConstants& constants);

struct AdamConstants {
  float one_minus_beta1 = 0, one_minus_beta2 = 0, log_beta1 = 0, log_beta2 = 0, epsilon = 0, weight_decay = 0;
};
cudaError_t launch_adam(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                        const AdamConstants& constants);

struct RmspropConstants {
  float rho = 0, epsilon = 0, momentum = 0;
  bool centered = false;
};
cudaError_t launch_rmsprop(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                           const RmspropConstants& constants);

inline constexpr int unscale_capacity = 64;

struct UnscaleTensors {
  int count = 0;
  std::int64_t elements[unscale_capacity] = {};
  const void* gradient[unscale_capacity] = {};
  float* unscaled[unscale_capacity] = {};  ///< may be the gradient's memory
  Dtype type[unscale_capacity] = {};
};

/// Sets *found when an element is not finite; never clears it.
cudaError_t launch_unscale(const LaunchOn& on, const UnscaleTensors& tensors, const float* scale, bool* found);
cudaError_t launch_loss_scale_update(const LaunchOn& on, const math::LossScale& rule, float* scale,
                                     std::int64_t* good_steps, const bool* found);

}  // namespace gpubench::cuda
