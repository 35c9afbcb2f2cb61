#include <utility>

#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/optimizer.h"
#include "core/backend/cuda/kernels/tensor_tiles.cuh"
#include "core/math/optimizer.h"

namespace gpubench::cuda {

namespace {

/// Elements of a block's tile: one or two packs of 16 bytes a thread.
constexpr int unscale_pack = 8;
constexpr std::int64_t update_tile = unscale_pack * block_threads;

/// The tensors that a function updates, element by element: the variable, then its slots.
template <int slots>
struct Updated {
  void* tensors[slots + 1];
};

__device__ math::ClipGradient clip_of(const UpdateScalars& scalars, int variable) {
  if (scalars.squares == nullptr) return {1.0F, scalars.limit};
  return {math::factor_of_norm(scalars.squares[scalars.of_all ? 0 : variable], scalars.norm), scalars.limit};
}

template <class F, class Values, std::size_t... Slot>
__device__ void update_element(const F& f, float gradient, const Values& value, std::index_sequence<Slot...>) {
  f(value(0), gradient, value(Slot + 1)...);
}

// All tensors are loaded before the first is stored: the compiler cannot know that they do not overlap.
template <class T, int count, int slots, class F>
__device__ void update_pack(const F& f, const math::ClipGradient& clip, const Updated<slots>& updated,
                            const void* gradient, Dtype gradient_type, std::int64_t i) {
  const Pack<float, count> gradients = load_pack<count>(gradient, gradient_type, i);
  Pack<float, count> x[slots + 1];
#pragma unroll
  for (int n = 0; n <= slots; ++n) x[n] = load_pack_of<T, count>(updated.tensors[n], i);
#pragma unroll
  for (int k = 0; k < count; ++k) {
    update_element(
        f, clip(gradients.values[k]), [&](int n) -> float& { return x[n].values[k]; },
        std::make_index_sequence<slots>{});
  }
#pragma unroll
  for (int n = 0; n <= slots; ++n) store_pack_of<T>(updated.tensors[n], i, x[n]);
}

/// `make(scalars)` is the function of an element; T is what the tensors are stored as.
template <class T, int slots, class Make>
__global__ void update_kernel(Make make, const __grid_constant__ UpdateTensors tensors, UpdateScalars scalars,
                              std::int64_t tiles) {
  if (scalars.skip != nullptr && *scalars.skip) return;
  const auto f = make(scalars);
  for_each_tile<update_tile>(tensors.elements, tiles, [&](const auto& tile) {
    const math::ClipGradient clip = clip_of(scalars, tile.tensor);
    const void* const gradient = tensors.gradient[tile.tensor];
    const Dtype type = tensors.gradient_type[tile.tensor];
    Updated<slots> updated{{tensors.variable[tile.tensor]}};
#pragma unroll
    for (int n = 0; n < slots; ++n) updated.tensors[n + 1] = tensors.slot[n][tile.tensor];
    tile.template for_each_pack<wide<T>>(
        [&]<int n>(std::int64_t i) { update_pack<T, n>(f, clip, updated, gradient, type, i); });
  });
}

template <int slots, class Make>
cudaError_t launch_update(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars, Make make) {
  const std::int64_t tiles = tiles_of<update_tile>(tensors);
  if (tiles == 0) return cudaSuccess;
  return with_floating(tensors.type, [&]<class T>(T) {
    return launch_filling<&update_kernel<T, slots, Make>>(on, tiles, 1, make, tensors, scalars, tiles);
  });
}

struct MakeSgd {
  SgdConstants of;
  __device__ math::Sgd operator()(const UpdateScalars& scalars) const {
    const float rate = *scalars.learning_rate;
    return {rate, rate * of.weight_decay};
  }
};
struct MakeSgdMomentum {
  SgdConstants of;
  __device__ math::SgdMomentum operator()(const UpdateScalars& scalars) const {
    const float rate = *scalars.learning_rate;
    return {rate, rate * of.weight_decay, of.momentum};
  }
};
struct MakeSgdNesterov {
  SgdConstants of;
  __device__ math::SgdNesterov operator()(const UpdateScalars& scalars) const {
    const float rate = *scalars.learning_rate;
    return {rate, rate * of.weight_decay, of.momentum};
  }
};

struct MakeAdam {
  AdamConstants of;
  __device__ math::Adam operator()(const UpdateScalars& scalars) const {
    const float rate = *scalars.learning_rate, step = static_cast<float>(*scalars.step);
    // 1 - beta^t without the cancellation that a beta near 1 brings in float32.
    const float correction = sqrtf(-expm1f(step * of.log_beta2)) / -expm1f(step * of.log_beta1);
    return {rate * correction, rate * of.weight_decay, of.one_minus_beta1, of.one_minus_beta2, of.epsilon};
  }
};

struct MakeLion {
  LionConstants of;
  __device__ math::Lion operator()(const UpdateScalars& scalars) const {
    const float rate = *scalars.learning_rate;
    return {rate, rate * of.weight_decay, of.beta1, of.one_minus_beta1, of.beta2, of.one_minus_beta2};
  }
};

struct MakeRmsprop {
  RmspropConstants of;
  __device__ math::Rmsprop operator()(const UpdateScalars& scalars) const {
    const float rate = *scalars.learning_rate;
    return {rate, rate * of.weight_decay, of.rho, of.epsilon};
  }
};
struct MakeRmspropMomentum {
  RmspropConstants of;
  __device__ math::RmspropMomentum operator()(const UpdateScalars& scalars) const {
    const float rate = *scalars.learning_rate;
    return {rate, rate * of.weight_decay, of.rho, of.epsilon, of.momentum};
  }
};
struct MakeRmspropCentered {
  RmspropConstants of;
  __device__ math::RmspropCentered operator()(const UpdateScalars& scalars) const {
    const float rate = *scalars.learning_rate;
    return {rate, rate * of.weight_decay, of.rho, of.epsilon};
  }
};
struct MakeRmspropCenteredMomentum {
  RmspropConstants of;
  __device__ math::RmspropCenteredMomentum operator()(const UpdateScalars& scalars) const {
    const float rate = *scalars.learning_rate;
    return {rate, rate * of.weight_decay, of.rho, of.epsilon, of.momentum};
  }
};

template <class F>
struct MakeRule {
  math::RuleSettings of;
  __device__ F operator()(const UpdateScalars& scalars) const {
    const float product = scalars.momentum_product == nullptr ? 0.0F : *scalars.momentum_product;
    return F(of, {*scalars.learning_rate, *scalars.step, product});
  }
};

// Threads that find an overflow all store the same byte, so that nothing is reduced and a step without one writes
// nothing.
__global__ void unscale_kernel(const __grid_constant__ UnscaleTensors tensors, const float* scale, bool* found,
                               std::int64_t tiles) {
  const float inverse = 1.0F / *scale;
  for_each_tile<update_tile>(tensors.elements, tiles, [&](const auto& tile) {
    const void* const gradient = tensors.gradient[tile.tensor];
    const Dtype type = tensors.type[tile.tensor];
    float* const unscaled = tensors.unscaled[tile.tensor];
    bool overflowed = false;
    tile.template for_each_pack<unscale_pack>([&]<int n>(std::int64_t i) {
      auto pack = load_pack<n>(gradient, type, i);
#pragma unroll
      for (float& value : pack.values) {
        value *= inverse;
        overflowed |= !math::is_finite(value);
      }
      store_pack_of<float>(unscaled, i, pack);
    });
    if (overflowed) *found = true;
  });
}

__global__ void loss_scale_update_kernel(math::LossScale rule, float* scale, std::int64_t* good_steps,
                                         const bool* found) {
  rule(*scale, *good_steps, *found);
}

}  // namespace

cudaError_t launch_sgd(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                       const SgdConstants& constants) {
  if (constants.momentum == 0) return launch_update<0>(on, tensors, scalars, MakeSgd{constants});
  if (constants.nesterov) return launch_update<1>(on, tensors, scalars, MakeSgdNesterov{constants});
  return launch_update<1>(on, tensors, scalars, MakeSgdMomentum{constants});
}

cudaError_t launch_adam(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                        const AdamConstants& constants) {
  return launch_update<2>(on, tensors, scalars, MakeAdam{constants});
}

cudaError_t launch_lion(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                        const LionConstants& constants) {
  return launch_update<1>(on, tensors, scalars, MakeLion{constants});
}

cudaError_t launch_rmsprop(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                           const RmspropConstants& constants) {
  if (constants.centered && constants.momentum != 0) {
    return launch_update<3>(on, tensors, scalars, MakeRmspropCenteredMomentum{constants});
  }
  if (constants.centered) return launch_update<2>(on, tensors, scalars, MakeRmspropCentered{constants});
  if (constants.momentum != 0) return launch_update<2>(on, tensors, scalars, MakeRmspropMomentum{constants});
  return launch_update<1>(on, tensors, scalars, MakeRmsprop{constants});
}

template <class F, int slots>
cudaError_t launch_rule(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                        const math::RuleSettings& settings) {
  return launch_update<slots>(on, tensors, scalars, MakeRule<F>{settings});
}

#define GPUBENCH_RULE(F, slots)                                                                                 \
  template cudaError_t launch_rule<math::F, slots>(const LaunchOn&, const UpdateTensors&, const UpdateScalars&, \
                                                   const math::RuleSettings&);
GPUBENCH_RULE(Average, 0)
GPUBENCH_RULE(Adagrad, 1)
GPUBENCH_RULE(Adadelta, 2)
GPUBENCH_RULE(Adamax, 2)
GPUBENCH_RULE(Nadam, 2)
GPUBENCH_RULE(Amsgrad, 3)
#undef GPUBENCH_RULE

cudaError_t launch_unscale(const LaunchOn& on, const UnscaleTensors& tensors, const float* scale, bool* found) {
  const std::int64_t tiles = tiles_of<update_tile>(tensors);
  if (tiles == 0) return cudaSuccess;
  return launch_filling<&unscale_kernel>(on, tiles, 1, tensors, scale, found, tiles);
}

cudaError_t launch_loss_scale_update(const LaunchOn& on, const math::LossScale& rule, float* scale,
                                     std::int64_t* good_steps, const bool* found) {
  return launch(on, 1, 1, &loss_scale_update_kernel, rule, scale, good_steps, found);
}

}  // namespace gpubench::cuda
