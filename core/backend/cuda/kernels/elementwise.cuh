// Loops of element-wise kernels. The flat loop handles floating types where every input has the output's shape or is
// one value, and moves packs of four elements (up to 16 bytes a load or store). The general loop handles the rest. Both
// switch on types at run time, which memory latency hides: one instance per function and type took minutes to compile
// and megabytes per architecture.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/backend/cuda/kernels/elementwise.h"
#include "core/backend/cuda/kernels/launch.cuh"
#include "core/math/functions.h"
#include "core/math/half.h"

namespace gpubench::cuda {

/// Calls launch with the unsigned integer type of an element's size. For kernels that only move elements.
template <class Launch>
cudaError_t with_bits(std::size_t element_bytes, const Launch& launch) {
  switch (element_bytes) {
    case 1:
      return launch.template operator()<std::uint8_t>();
    case 2:
      return launch.template operator()<std::uint16_t>();
    case 4:
      return launch.template operator()<std::uint32_t>();
    default:
      return launch.template operator()<std::uint64_t>();
  }
}

inline constexpr int pack_size = 4;

template <class T>
__device__ const T* as(const void* data) {
  return static_cast<const T*>(data);
}

/// Element `at` of memory that holds `type`, converted to the type of computation C: float, or std::int64_t for
/// integers and bool.
template <class C>
__device__ C load_as(const void* data, Dtype type, std::int64_t at) {
  if constexpr (std::is_same_v<C, float>) {
    if (type == Dtype::f16) return widen(as<math::Float16>(data)[at]);
    if (type == Dtype::bf16) return widen(as<math::Bfloat16>(data)[at]);
    return as<float>(data)[at];
  } else {
    switch (type) {
      case Dtype::i64:
        return as<std::int64_t>(data)[at];
      case Dtype::i32:
        return as<std::int32_t>(data)[at];
      case Dtype::i16:
        return as<std::int16_t>(data)[at];
      case Dtype::i8:
        return as<std::int8_t>(data)[at];
      default:  // uint8, and bool, which is stored as 0 or 1
        return as<std::uint8_t>(data)[at];
    }
  }
}

template <class C>
__device__ void store_as(void* data, Dtype type, std::int64_t at, C value) {
  if constexpr (std::is_same_v<C, float>) {
    if (type == Dtype::f16) {
      static_cast<math::Float16*>(data)[at] = Narrow<math::Float16>::from(value);
    } else if (type == Dtype::bf16) {
      static_cast<math::Bfloat16*>(data)[at] = Narrow<math::Bfloat16>::from(value);
    } else {
      static_cast<float*>(data)[at] = value;
    }
  } else {
    switch (type) {
      case Dtype::i64:
        static_cast<std::int64_t*>(data)[at] = value;
        break;
      case Dtype::i32:
        static_cast<std::int32_t*>(data)[at] = static_cast<std::int32_t>(value);
        break;
      case Dtype::i16:
        static_cast<std::int16_t*>(data)[at] = static_cast<std::int16_t>(value);
        break;
      default:  // int8, uint8 and bool: the low byte
        static_cast<std::uint8_t*>(data)[at] = static_cast<std::uint8_t>(value);
    }
  }
}

/// Four elements moved at once. Tensors begin at multiples of 64 bytes, so packs are aligned.
template <class T>
struct alignas(pack_size * sizeof(T)) Pack {
  T values[pack_size];
};

template <class T>
__device__ Pack<float> widen(const Pack<T>& pack) {
  Pack<float> result;
#pragma unroll
  for (int k = 0; k < pack_size; ++k) result.values[k] = widen(pack.values[k]);
  return result;
}

/// Elements [at, at + 4) of memory that holds elements of a floating `type`.
__device__ inline Pack<float> load_pack(const void* data, Dtype type, std::int64_t at) {
  if (type == Dtype::f16) return widen(*reinterpret_cast<const Pack<math::Float16>*>(as<math::Float16>(data) + at));
  if (type == Dtype::bf16) return widen(*reinterpret_cast<const Pack<math::Bfloat16>*>(as<math::Bfloat16>(data) + at));
  return *reinterpret_cast<const Pack<float>*>(as<float>(data) + at);
}

template <class T>
__device__ void store_pack(void* data, std::int64_t at, const Pack<float>& pack) {
  Pack<T> result;
#pragma unroll
  for (int k = 0; k < pack_size; ++k) result.values[k] = Narrow<T>::from(pack.values[k]);
  *reinterpret_cast<Pack<T>*>(static_cast<T*>(data) + at) = result;
}
__device__ inline void store_pack(void* data, Dtype type, std::int64_t at, const Pack<float>& pack) {
  if (type == Dtype::f16) {
    store_pack<math::Float16>(data, at, pack);
  } else if (type == Dtype::bf16) {
    store_pack<math::Bfloat16>(data, at, pack);
  } else {
    store_pack<float>(data, at, pack);
  }
}

/// Offsets of the inputs' elements for output element `i`, and the index of `i` in the innermost dimension.
template <int arity>
struct Places {
  std::int64_t offset[arity];
  std::int64_t inner;

  __device__ Places(const ElementwiseAccess& access, std::int64_t i) {
    const int last = access.rank - 1;
    inner = i % access.extent[last];
    std::int64_t rest = i / access.extent[last];
#pragma unroll
    for (int n = 0; n < arity; ++n) offset[n] = inner * access.stride[n][last];
    for (int d = last - 1; d >= 0; --d) {
      const std::int64_t place = rest % access.extent[d];
      rest /= access.extent[d];
#pragma unroll
      for (int n = 0; n < arity; ++n) offset[n] += place * access.stride[n][d];
    }
  }
};

/// Calls body(i, offsets) for each output element. Offsets are found by one division per pack, not per element.
template <int arity, class Body>
__device__ void for_each_element(const ElementwiseAccess& access, const Body& body) {
  const int last = access.rank - 1;
  for (std::int64_t i = first_index() * pack_size; i < access.elements; i += index_step() * pack_size) {
    Places<arity> places(access, i);
    const std::int64_t end = i + pack_size < access.elements ? i + pack_size : access.elements;
    for (std::int64_t k = i; k < end; ++k) {
      if (places.inner == access.extent[last]) places = Places<arity>(access, k);
      body(k, places.offset);
      ++places.inner;
#pragma unroll
      for (int n = 0; n < arity; ++n) places.offset[n] += access.stride[n][last];
    }
  }
}

struct Inputs {
  const void* data[max_arity];
};

/// Number of arguments of F, computed in C.
template <class F, class C>
inline constexpr int arity_of = std::is_invocable_v<F, C>      ? 1
                                : std::is_invocable_v<F, C, C> ? 2
                                                               : 3;

/// Applies F to the input elements `at(0)`, `at(1)`, ...
template <class F, class At>
__device__ auto apply(const F& f, const At& at) {
  constexpr int arity = arity_of<F, decltype(at(0))>;
  if constexpr (arity == 1) {
    return f(at(0));
  } else if constexpr (arity == 2) {
    return f(at(0), at(1));
  } else {
    return f(at(0), at(1), at(2));
  }
}

// `out` may be the memory of an input of the same shape: each element is read and written by one thread, in that order.
template <class F>
__global__ void flat_kernel(F f, ElementwiseAccess access, void* out, Inputs in) {
  constexpr int arity = arity_of<F, float>;
  const Dtype type = access.output_type;
  for (std::int64_t i = first_index() * pack_size; i < access.elements; i += index_step() * pack_size) {
    if (i + pack_size <= access.elements) {
      Pack<float> x[arity], result;
#pragma unroll
      for (int n = 0; n < arity; ++n) {
        if (access.stride[n][0] != 0) {
          x[n] = load_pack(in.data[n], type, i);
        } else {
          const float value = load_as<float>(in.data[n], type, 0);
          for (float& element : x[n].values) element = value;
        }
      }
#pragma unroll
      for (int k = 0; k < pack_size; ++k) result.values[k] = apply(f, [&](int n) { return x[n].values[k]; });
      store_pack(out, type, i, result);
    } else {
      for (std::int64_t k = i; k < access.elements; ++k) {
        const auto at = [&](int n) { return load_as<float>(in.data[n], type, k * access.stride[n][0]); };
        store_as<float>(out, type, k, apply(f, at));
      }
    }
  }
}

template <class F, class C>
__global__ void general_kernel(F f, ElementwiseAccess access, void* out, Inputs in) {
  constexpr int arity = arity_of<F, C>;
  for_each_element<arity>(access, [&](std::int64_t i, const std::int64_t* offset) {
    const auto at = [&](int n) { return load_as<C>(in.data[n], access.input_types[n], offset[n]); };
    const auto result = apply(f, at);
    using Stored = std::conditional_t<std::is_same_v<decltype(result), const float>, float, std::int64_t>;
    store_as<Stored>(out, access.output_type, i, result);
  });
}

template <class F, class C>
cudaError_t launch_general(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in) {
  Inputs inputs{};
  constexpr int arity = arity_of<F, C>;
  for (int n = 0; n < arity; ++n) inputs.data[n] = in[n];
  const unsigned blocks = blocks_for(on, access.elements, block_threads * pack_size);
  return launch(on, blocks, block_threads, &general_kernel<F, C>, F{}, access, out, inputs);
}

/// Chooses the kernel: flat where F maps floats to floats, general elsewhere. `domain`: the types for which F is
/// defined.
template <class F, math::Domain domain>
cudaError_t launch_function(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in) {
  if (access.elements == 0) return cudaSuccess;
  [[maybe_unused]] const Dtype type = access.input_types[0];
  if constexpr (domain == math::Domain::floats || domain == math::Domain::numbers) {
    if (access.rank == 1 && is_floating(type)) {
      Inputs inputs{};
      constexpr int arity = arity_of<F, float>;
      for (int n = 0; n < arity; ++n) inputs.data[n] = in[n];
      return launch(on, blocks_for(on, access.elements, block_threads * pack_size), block_threads, &flat_kernel<F>, F{},
                    access, out, inputs);
    }
  }
  if constexpr (domain != math::Domain::bools) {
    if (is_floating(type)) return launch_general<F, float>(on, access, out, in);
  }
  if constexpr (domain != math::Domain::floats) return launch_general<F, std::int64_t>(on, access, out, in);
  return cudaErrorInvalidValue;
}

}  // namespace gpubench::cuda
