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
  const std::int64_t* step = nullptr;       ///< for rules that read it: 1 at the first update
  const float* momentum_product = nullptr;  ///< for Nadam only
  const bool* skip = nullptr;               ///< if given and true, nothing is updated
  /// Sums of squares of the gradients, whose norms are limited to `norm`: one of all, or one of each of the tensors.
  const float* squares = nullptr;
  bool of_all = false;
  float norm = 0;
  float limit = 0;  ///< of a gradient's elements
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

struct LionConstants {
  float beta1 = 0, one_minus_beta1 = 0, beta2 = 0, one_minus_beta2 = 0, weight_decay = 0;
};
cudaError_t launch_lion(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                        const LionConstants& constants);

struct RmspropConstants {
  float rho = 0, epsilon = 0, momentum = 0, weight_decay = 0;
  bool centered = false;
};
cudaError_t launch_rmsprop(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                           const RmspropConstants& constants);

/// F: a rule of RuleUpdate, with its number of slots.
template <class F, int slots>
cudaError_t launch_rule(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                        const math::RuleSettings& settings);

inline constexpr int squares_capacity = 64;

struct SquaresTensors {
  int count = 0;
  std::int64_t elements[squares_capacity] = {};
  const void* tensor[squares_capacity] = {};
  Dtype type[squares_capacity] = {};
};

/// Elements of one partial sum: more than an update's tile has, because there is only one number to write for it.
inline constexpr std::int64_t squares_tile = 16 * block_threads;
/// Number of partial sums of a tensor.
GPUBENCH_HOST_DEVICE std::int64_t squares_tiles(std::int64_t elements) {
  return (elements + squares_tile - 1) / squares_tile;
}
/// Writes the partial sums of squares of the tensors, one tensor behind the other.
cudaError_t launch_squares(const LaunchOn& on, const SquaresTensors& tensors, float* partial);
/// sums[i] = the sum of partial sums ends[i - 1] to ends[i] (exclusive; from 0).
struct SumRanges {
  int count = 0;
  std::int64_t begin = 0;
  std::int64_t ends[squares_capacity] = {};
};
cudaError_t launch_sum_ranges(const LaunchOn& on, const SumRanges& ranges, const float* partial, float* sums);

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
