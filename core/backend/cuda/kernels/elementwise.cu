// The functions of core/math/functions.h, casts, the choice between two values, and the bias of a row.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/tensor_tiles.cuh"
#include "core/math/functions.h"

namespace gpubench::cuda {
namespace {

/// Elements that a thread casts at once: 16 bytes of the 16-bit side.
constexpr int cast_pack = 8;
constexpr std::int64_t cast_tile = cast_pack * block_threads;

template <class T>
__global__ void cast_all_kernel(const __grid_constant__ CastTensors tensors, std::int64_t tiles) {
  for_each_tile<cast_tile>(tensors.elements, tiles, [&](const auto& tile) {
    const float* const from = tensors.from[tile.tensor];
    void* const to = tensors.to[tile.tensor];
    tile.template for_each_pack<cast_pack>(
        [&]<int n>(std::int64_t i) { store_pack_of<T>(to, i, load_pack_of<float, n>(from, i)); });
  });
}

template <class T>
cudaError_t launch_to(const LaunchOn& on, const CastTensors& tensors) {
  const std::int64_t tiles = tiles_of<cast_tile>(tensors);
  if (tiles == 0) return cudaSuccess;
  return launch_filling<&cast_all_kernel<T>>(on, tiles, 1, tensors, tiles);
}

// Selects by copying bits, independent of the type.
template <class Bits>
__global__ void select_kernel(ElementwiseAccess access, Bits* out, const bool* condition, const Bits* a,
                              const Bits* b) {
  for_each_element<3>(access, [&](std::int64_t i, const std::int64_t* offset) {
    out[i] = condition[offset[0]] ? a[offset[1]] : b[offset[2]];
  });
}

// C++ conversion; to bool by comparing with 0, to 16 bits by rounding to nearest even.
template <class From, class To>
__global__ void cast_kernel(ElementwiseAccess access, void* out, const void* in) {
  const bool truth = access.output_type == Dtype::boolean;
  for_each_element<1>(access, [&](std::int64_t i, const std::int64_t* offset) {
    const auto x = load_as<From>(in, access.input_types[0], offset[0]);
    store_as<To>(out, access.output_type, i, truth ? static_cast<To>(x != From{0}) : static_cast<To>(x));
  });
}

/// Between floating types without gaps.
__global__ void flat_cast_kernel(std::int64_t elements, void* out, Dtype to, const void* in, Dtype from) {
  for (std::int64_t i = first_index() * cast_pack; i < elements; i += index_step() * cast_pack) {
    if (i + cast_pack <= elements) {
      store_pack(out, to, i, load_pack<cast_pack>(in, from, i));
    } else {
#pragma unroll 1
      for (std::int64_t k = i; k < elements; ++k) store_as<float>(out, to, k, load_as<float>(in, from, k));
    }
  }
}

template <class From, class To>
cudaError_t launch_between(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* in) {
  return launch_filling<&cast_kernel<From, To>>(on, access.elements, block_threads * pack_size, access, out, in);
}

// Packs where the channels divide by their size: then no pack crosses from one row to the next.
template <class T>
__global__ void bias_add_packed(std::int64_t elements, std::int64_t channels, void* y, const void* x,
                                const void* bias) {
  constexpr int count = wide<T>;
  for (std::int64_t i = first_index() * count; i < elements; i += index_step() * count) {
    Stored<T, count> loaded, loaded_bias;
    loaded.load(x, i);
    loaded_bias.load(bias, i % channels);
    Pack<float, count> sum = loaded.values();
    const Pack<float, count> added = loaded_bias.values();
#pragma unroll
    for (int k = 0; k < count; ++k) sum.values[k] += added.values[k];
    store_pack_of<T>(y, i, sum);
  }
}

__global__ void bias_add(std::int64_t elements, std::int64_t channels, Dtype type, void* y, const void* x,
                         const void* bias) {
  for (std::int64_t i = first_index(); i < elements; i += index_step()) {
    store_as<float>(y, type, i, load_as<float>(x, type, i) + load_as<float>(bias, type, i % channels));
  }
}

}  // namespace

cudaError_t launch_cast_all(const LaunchOn& on, const CastTensors& tensors) {
  return tensors.type == Dtype::f16 ? launch_to<math::Float16>(on, tensors) : launch_to<math::Bfloat16>(on, tensors);
}

cudaError_t launch_select(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in) {
  if (access.elements == 0) return cudaSuccess;
  return with_bits(size_of(access.output_type), [&]<class Bits>() {
    return launch_filling<&select_kernel<Bits>>(on, access.elements, block_threads * pack_size, access,
                                                static_cast<Bits*>(out), static_cast<const bool*>(in[0]),
                                                static_cast<const Bits*>(in[1]), static_cast<const Bits*>(in[2]));
  });
}

cudaError_t launch_cast(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in) {
  if (access.elements == 0) return cudaSuccess;
  const bool to_floating = is_floating(access.output_type);
  const bool flat = access.rank == 1 && access.stride[0][0] == 1;
  if (flat && to_floating && is_floating(access.input_types[0])) {
    return launch_filling<&flat_cast_kernel>(on, access.elements, block_threads * cast_pack, access.elements, out,
                                             access.output_type, in[0], access.input_types[0]);
  }
  if (is_floating(access.input_types[0])) {
    return to_floating ? launch_between<float, float>(on, access, out, in[0])
                       : launch_between<float, std::int64_t>(on, access, out, in[0]);
  }
  return to_floating ? launch_between<std::int64_t, float>(on, access, out, in[0])
                     : launch_between<std::int64_t, std::int64_t>(on, access, out, in[0]);
}

cudaError_t launch_bias_add(const LaunchOn& on, std::int64_t elements, std::int64_t channels, Dtype type, void* y,
                            const void* x, const void* bias) {
  if (elements == 0) return cudaSuccess;
  return with_floating(type, [&]<class T>(T) {
    if (channels % wide<T> != 0) {
      return launch_filling<&bias_add>(on, elements, block_threads, elements, channels, type, y, x, bias);
    }
    return launch_filling<&bias_add_packed<T>>(on, elements, block_threads * wide<T>, elements, channels, y, x, bias);
  });
}

#define GPUBENCH_LAUNCH(Type, domain, broadcasts)                          \
  template <>                                                              \
  ElementwiseLaunch elementwise_launch<math::Type>() {                     \
    return &launch_function<math::Type, math::Domain::domain, broadcasts>; \
  }
#define GPUBENCH_OF_ONE_SHAPE(Kind, name, Type, domain, cost, flops) GPUBENCH_LAUNCH(Type, domain, false)
#define GPUBENCH_BROADCAST(Kind, name, Type, domain, cost, flops) GPUBENCH_LAUNCH(Type, domain, true)
GPUBENCH_FUNCTIONS_OF_ONE(GPUBENCH_OF_ONE_SHAPE)
GPUBENCH_GRADIENT_FUNCTIONS(GPUBENCH_OF_ONE_SHAPE)
GPUBENCH_ARITHMETIC_FUNCTIONS(GPUBENCH_BROADCAST)
GPUBENCH_PREDICATES(GPUBENCH_BROADCAST)
#undef GPUBENCH_BROADCAST
#undef GPUBENCH_OF_ONE_SHAPE
#undef GPUBENCH_LAUNCH

}  // namespace gpubench::cuda
