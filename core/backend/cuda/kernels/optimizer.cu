// The elements of all variables, one behind the other, are cut into tiles that blocks share out: a block looks its
// tile's variable up in the kernel's parameters.
#include <utility>

#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/optimizer.h"
#include "core/math/optimizer.h"

namespace gpubench::cuda {

namespace {

constexpr int per_thread = 4;
constexpr std::int64_t tile = per_thread * block_threads;

__host__ __device__ constexpr std::int64_t tiles_of(std::int64_t elements) {
  return (elements + tile - 1) / tile;
}

/// One element of a tensor stored as T, computed with as float32: written back when it goes.
template <class T>
class Element {
 public:
  __device__ Element(void* tensor, std::int64_t at) : stored_(static_cast<T*>(tensor) + at), value_(widen(*stored_)) {}
  __device__ ~Element() { *stored_ = Narrow<T>::from(value_); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;
  __device__ float& value() { return value_; }

 private:
  T* stored_;
  float value_;
};

template <class T, class F, std::size_t... Slot>
__device__ void update_tile(const F& f, const UpdateTensors& tensors, int variable, std::int64_t begin,
                            std::index_sequence<Slot...>) {
  const std::int64_t elements = tensors.elements[variable];
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const std::int64_t i = begin + k * block_threads + threadIdx.x;
    if (i >= elements) continue;
    const float gradient = load_as<float>(tensors.gradient[variable], tensors.gradient_type[variable], i);
    f(Element<T>(tensors.variable[variable], i).value(), gradient,
      Element<T>(tensors.slot[Slot][variable], i).value()...);
  }
}

/// `make(scalars)` is the function of an element; T is what the tensors are stored as.
template <class T, int slots, class Make>
__global__ void update_kernel(Make make, const __grid_constant__ UpdateTensors tensors, UpdateScalars scalars,
                              std::int64_t tiles) {
  if (scalars.skip != nullptr && *scalars.skip) return;
  const auto f = make(scalars);
  int variable = 0;
  std::int64_t first = 0;  // tile of the variable
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    while (t - first >= tiles_of(tensors.elements[variable])) first += tiles_of(tensors.elements[variable++]);
    update_tile<T>(f, tensors, variable, (t - first) * tile, std::make_index_sequence<slots>{});
  }
}

template <int slots, class Make>
cudaError_t launch_update(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars, Make make) {
  std::int64_t tiles = 0;
  for (int i = 0; i < tensors.count; ++i) tiles += tiles_of(tensors.elements[i]);
  if (tiles == 0) return cudaSuccess;
  const auto launch_for = [&]<class T>(T) {
    return launch(on, blocks_for(on, tiles, 1), block_threads, &update_kernel<T, slots, Make>, make, tensors, scalars,
                  tiles);
  };
  if (tensors.type == Dtype::f16) return launch_for(math::Float16{});
  if (tensors.type == Dtype::bf16) return launch_for(math::Bfloat16{});
  return launch_for(0.0F);
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

struct MakeRmsprop {
  RmspropConstants of;
  __device__ math::Rmsprop operator()(const UpdateScalars& scalars) const {
    return {*scalars.learning_rate, of.rho, of.epsilon};
  }
};
struct MakeRmspropMomentum {
  RmspropConstants of;
  __device__ math::RmspropMomentum operator()(const UpdateScalars& scalars) const {
    return {*scalars.learning_rate, of.rho, of.epsilon, of.momentum};
  }
};
struct MakeRmspropCentered {
  RmspropConstants of;
  __device__ math::RmspropCentered operator()(const UpdateScalars& scalars) const {
    return {*scalars.learning_rate, of.rho, of.epsilon};
  }
};
struct MakeRmspropCenteredMomentum {
  RmspropConstants of;
  __device__ math::RmspropCenteredMomentum operator()(const UpdateScalars& scalars) const {
    return {*scalars.learning_rate, of.rho, of.epsilon, of.momentum};
  }
};

// Threads that find an overflow all store the same byte, so that nothing is reduced and a step without one writes
// nothing.
__global__ void unscale_kernel(const __grid_constant__ UnscaleTensors tensors, const float* scale, bool* found,
                               std::int64_t tiles) {
  const float inverse = 1.0F / *scale;
  int tensor = 0;
  std::int64_t first = 0;  // tile of the tensor
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    while (t - first >= tiles_of(tensors.elements[tensor])) first += tiles_of(tensors.elements[tensor++]);
    const std::int64_t begin = (t - first) * tile, elements = tensors.elements[tensor];
    bool overflowed = false;
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
      const std::int64_t i = begin + k * block_threads + threadIdx.x;
      if (i >= elements) continue;
      const float value = load_as<float>(tensors.gradient[tensor], tensors.type[tensor], i) * inverse;
      overflowed |= !math::is_finite(value);
      tensors.unscaled[tensor][i] = value;
    }
    if (overflowed) *found = true;
  }
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

cudaError_t launch_rmsprop(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                           const RmspropConstants& constants) {
  if (constants.centered && constants.momentum != 0) {
    return launch_update<3>(on, tensors, scalars, MakeRmspropCenteredMomentum{constants});
  }
  if (constants.centered) return launch_update<2>(on, tensors, scalars, MakeRmspropCentered{constants});
  if (constants.momentum != 0) return launch_update<2>(on, tensors, scalars, MakeRmspropMomentum{constants});
  return launch_update<1>(on, tensors, scalars, MakeRmsprop{constants});
}

cudaError_t launch_unscale(const LaunchOn& on, const UnscaleTensors& tensors, const float* scale, bool* found) {
  std::int64_t tiles = 0;
  for (int i = 0; i < tensors.count; ++i) tiles += tiles_of(tensors.elements[i]);
  if (tiles == 0) return cudaSuccess;
  return launch(on, blocks_for(on, tiles, 1), block_threads, &unscale_kernel, tensors, scale, found, tiles);
}

cudaError_t launch_loss_scale_update(const LaunchOn& on, const math::LossScale& rule, float* scale,
                                     std::int64_t* good_steps, const bool* found) {
  return launch(on, 1, 1, &loss_scale_update_kernel, rule, scale, good_steps, found);
}

}  // namespace gpubench::cuda
