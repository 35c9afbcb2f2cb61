// The elements of all variables, one behind the other, are cut into tiles that blocks share out: a block looks its
// tile's variable up in the kernel's parameters.
#include <utility>

#include "core/backend/cuda/kernels/block_reduce.cuh"
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/optimizer.h"
#include "core/math/optimizer.h"

namespace gpubench::cuda {

namespace {

/// Elements of a block's tile: one or two packs of 16 bytes a thread.
constexpr int unscale_pack = 8;
constexpr std::int64_t tile = unscale_pack * block_threads;

__host__ __device__ constexpr std::int64_t tiles_of(std::int64_t elements) {
  return (elements + tile - 1) / tile;
}

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
template <class T, int slots, class F>
__device__ void update_pack(const F& f, const math::ClipGradient& clip, const Updated<slots>& updated,
                            const void* gradient, Dtype gradient_type, std::int64_t i) {
  constexpr int count = wide<T>;
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

template <class T, int slots, class F>
__device__ void update_one(const F& f, const math::ClipGradient& clip, const Updated<slots>& updated,
                           const void* gradient, Dtype gradient_type, std::int64_t i) {
  float x[slots + 1];
  for (int n = 0; n <= slots; ++n) x[n] = widen(as<T>(updated.tensors[n])[i]);
  update_element(
      f, clip(load_as<float>(gradient, gradient_type, i)), [&](int n) -> float& { return x[n]; },
      std::make_index_sequence<slots>{});
  for (int n = 0; n <= slots; ++n) static_cast<T*>(updated.tensors[n])[i] = Narrow<T>::from(x[n]);
}

template <class T, int slots, class F>
__device__ void update_tile(const F& f, const UpdateTensors& tensors, const UpdateScalars& scalars, int variable,
                            std::int64_t begin) {
  constexpr int count = wide<T>;
  const std::int64_t elements = tensors.elements[variable];
  const math::ClipGradient clip = clip_of(scalars, variable);
  const void* const gradient = tensors.gradient[variable];
  const Dtype type = tensors.gradient_type[variable];
  Updated<slots> updated{{tensors.variable[variable]}};
#pragma unroll
  for (int n = 0; n < slots; ++n) updated.tensors[n + 1] = tensors.slot[n][variable];
#pragma unroll
  for (std::int64_t part = 0; part < tile; part += count * block_threads) {
    const std::int64_t i = begin + part + threadIdx.x * count;
    if (i + count <= elements) {
      update_pack<T, slots>(f, clip, updated, gradient, type, i);
    } else {
#pragma unroll 1
      for (std::int64_t k = i; k < elements; ++k) update_one<T, slots>(f, clip, updated, gradient, type, k);
    }
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
    update_tile<T, slots>(f, tensors, scalars, variable, (t - first) * tile);
  }
}

template <class Tensors>
std::int64_t total_tiles(const Tensors& tensors) {
  std::int64_t tiles = 0;
  for (int i = 0; i < tensors.count; ++i) tiles += tiles_of(tensors.elements[i]);
  return tiles;
}

template <int slots, class Make>
cudaError_t launch_update(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars, Make make) {
  const std::int64_t tiles = total_tiles(tensors);
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

struct MakeLamb {
  AdamConstants of;
  __device__ math::Lamb operator()(const UpdateScalars& scalars) const {
    const float rate = *scalars.learning_rate, step = static_cast<float>(*scalars.step);
    return {rate,
            rate * of.weight_decay,
            of.one_minus_beta1,
            of.one_minus_beta2,
            -1.0F / expm1f(step * of.log_beta1),
            -1.0F / expm1f(step * of.log_beta2),
            of.epsilon};
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

struct AddFloats {
  __device__ float operator()(float a, float b) const { return a + b; }
};

/// Updates the moments; partial sums of a tile are the squares of its variables and of their steps.
template <class T>
__global__ void lamb_moments_kernel(MakeLamb make, const __grid_constant__ UpdateTensors tensors, UpdateScalars scalars,
                                    float* variables, float* steps, std::int64_t tiles) {
  if (scalars.skip != nullptr && *scalars.skip) return;
  const math::Lamb f = make(scalars);
  int variable = 0;
  std::int64_t first = 0;  // tile of the variable
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    while (t - first >= tiles_of(tensors.elements[variable])) first += tiles_of(tensors.elements[variable++]);
    const math::ClipGradient clip = clip_of(scalars, variable);
    float of_variable = 0, of_step = 0;
#pragma unroll
    for (int k = 0; k < tile / block_threads; ++k) {
      const std::int64_t i = (t - first) * tile + k * block_threads + threadIdx.x;
      if (i >= tensors.elements[variable]) continue;
      const float gradient = clip(load_as<float>(tensors.gradient[variable], tensors.gradient_type[variable], i));
      const float w = f.decayed(widen(static_cast<const T*>(tensors.variable[variable])[i]));
      T &stored_m = static_cast<T*>(tensors.slot[0][variable])[i],
        &stored_v = static_cast<T*>(tensors.slot[1][variable])[i];
      float m = widen(stored_m), v = widen(stored_v);
      const float step = f.moments(gradient, m, v);
      stored_m = Narrow<T>::from(m);
      stored_v = Narrow<T>::from(v);
      of_variable += w * w;
      of_step += step * step;
    }
    of_variable = block_reduce<block_threads>(of_variable, AddFloats{});
    __syncthreads();
    of_step = block_reduce<block_threads>(of_step, AddFloats{});
    __syncthreads();
    if (threadIdx.x != 0) continue;
    variables[t] = of_variable;
    steps[t] = of_step;
  }
}

template <class T>
__global__ void lamb_apply_kernel(MakeLamb make, const __grid_constant__ UpdateTensors tensors, UpdateScalars scalars,
                                  const float* variables, const float* steps, std::int64_t tiles) {
  if (scalars.skip != nullptr && *scalars.skip) return;
  const math::Lamb f = make(scalars);
  int variable = 0;
  std::int64_t first = 0;  // tile of the variable
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    while (t - first >= tiles_of(tensors.elements[variable])) first += tiles_of(tensors.elements[variable++]);
    const float rate = f.learning_rate * math::Lamb::ratio(variables[variable], steps[variable]);
#pragma unroll
    for (int k = 0; k < tile / block_threads; ++k) {
      const std::int64_t i = (t - first) * tile + k * block_threads + threadIdx.x;
      if (i >= tensors.elements[variable]) continue;
      const float m = widen(static_cast<const T*>(tensors.slot[0][variable])[i]);
      const float v = widen(static_cast<const T*>(tensors.slot[1][variable])[i]);
      T& w = static_cast<T*>(tensors.variable[variable])[i];
      w = Narrow<T>::from(f.decayed(widen(w)) - rate * f.step(m, v));
    }
  }
}

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
    const std::int64_t i = begin + threadIdx.x * unscale_pack;
    const auto unscaled = [&](float gradient) {
      const float value = gradient * inverse;
      overflowed |= !math::is_finite(value);
      return value;
    };
    if (i + unscale_pack <= elements) {
      Pack<float, unscale_pack> pack = load_pack<unscale_pack>(tensors.gradient[tensor], tensors.type[tensor], i);
#pragma unroll
      for (float& value : pack.values) value = unscaled(value);
      store_pack_of<float>(tensors.unscaled[tensor], i, pack);
    } else {
#pragma unroll 1
      for (std::int64_t k = i; k < elements; ++k) {
        tensors.unscaled[tensor][k] = unscaled(load_as<float>(tensors.gradient[tensor], tensors.type[tensor], k));
      }
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

cudaError_t launch_lion(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                        const LionConstants& constants) {
  return launch_update<1>(on, tensors, scalars, MakeLion{constants});
}

std::size_t lamb_workspace(std::int64_t elements) {
  const std::int64_t tiles = elements / tile + update_capacity;  // the last tile of a variable may be a part of one
  return static_cast<std::size_t>(2 * (tiles + update_capacity)) * sizeof(float);
}

cudaError_t launch_lamb(const LaunchOn& on, const UpdateTensors& tensors, const UpdateScalars& scalars,
                        const AdamConstants& constants, float* workspace) {
  const std::int64_t tiles = total_tiles(tensors);
  if (tiles == 0) return cudaSuccess;
  float *const norms = workspace, *const partial = workspace + 2 * update_capacity;
  SumRanges ranges;
  ranges.count = tensors.count;
  ranges.skip = scalars.skip;
  for (std::int64_t end = 0, i = 0; i < tensors.count; ++i) ranges.ends[i] = end += tiles_of(tensors.elements[i]);
  const MakeLamb make{constants};
  return with_floating(tensors.type, [&]<class T>(T) {
    cudaError_t status =
        launch_filling<&lamb_moments_kernel<T>>(on, tiles, 1, make, tensors, scalars, partial, partial + tiles, tiles);
    if (status == cudaSuccess) status = launch_sum_ranges(on, ranges, partial, norms);
    if (status == cudaSuccess) status = launch_sum_ranges(on, ranges, partial + tiles, norms + update_capacity);
    if (status != cudaSuccess) return status;
    return launch_filling<&lamb_apply_kernel<T>>(on, tiles, 1, make, tensors, scalars, norms, norms + update_capacity,
                                                 tiles);
  });
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
  const std::int64_t tiles = total_tiles(tensors);
  if (tiles == 0) return cudaSuccess;
  return launch_filling<&unscale_kernel>(on, tiles, 1, tensors, scale, found, tiles);
}

cudaError_t launch_loss_scale_update(const LaunchOn& on, const math::LossScale& rule, float* scale,
                                     std::int64_t* good_steps, const bool* found) {
  return launch(on, 1, 1, &loss_scale_update_kernel, rule, scale, good_steps, found);
}

}  // namespace gpubench::cuda
