// Loops of element-wise kernels. The flat loop handles floating types where every input has the output's shape or is
// one value, and moves 16 bytes a load or store. The general loop handles the rest, and switches on types at run time,
// which memory latency hides: one instance per function and type took minutes to compile and megabytes per
// architecture.
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

/// launch(T{}) for the floating type.
template <class Launch>
cudaError_t with_floating(Dtype type, const Launch& launch) {
  if (type == Dtype::f16) return launch(math::Float16{});
  if (type == Dtype::bf16) return launch(math::Bfloat16{});
  return launch(0.0F);
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

/// `count` neighbours, computed with together.
template <class T, int count = pack_size>
struct Pack {
  T values[count];
};

/// The elements of T in these bytes.
template <class T, int bytes>
__device__ auto unpack(const Bits<bytes>& bits) {
  constexpr int count = bytes / sizeof(T);
  const auto stored = __builtin_bit_cast(Pack<T, count>, bits);
  Pack<float, count> result;
#pragma unroll
  for (int k = 0; k < count; ++k) result.values[k] = widen(stored.values[k]);
  return result;
}

/// Elements [at, at + count) of memory that holds elements of T, by loads of up to 16 bytes. Tensors begin at multiples
/// of 64 bytes, so packs are aligned where `at` is a multiple of `count`.
template <class T, int count>
__device__ Pack<float, count> load_pack_of(const void* data, std::int64_t at) {
  Pack<float, count> result;
  if constexpr (count == 1) {
    result.values[0] = widen(as<T>(data)[at]);
  } else {
    constexpr int bytes = count * sizeof(T) < 16 ? count * sizeof(T) : 16, part = bytes / sizeof(T);
#pragma unroll
    for (int first = 0; first < count; first += part) {
      Bits<bytes> bits;
      load_bits(as<T>(data) + at + first, bits);
      const Pack<float, part> loaded = unpack<T>(bits);
#pragma unroll
      for (int k = 0; k < part; ++k) result.values[first + k] = loaded.values[k];
    }
  }
  return result;
}
template <int count = pack_size>
__device__ Pack<float, count> load_pack(const void* data, Dtype type, std::int64_t at) {
  if (type == Dtype::f16) return load_pack_of<math::Float16, count>(data, at);
  if (type == Dtype::bf16) return load_pack_of<math::Bfloat16, count>(data, at);
  return load_pack_of<float, count>(data, at);
}

template <class T, int count>
__device__ void store_pack_of(void* data, std::int64_t at, const Pack<float, count>& pack) {
  if constexpr (count == 1) {
    static_cast<T*>(data)[at] = Narrow<T>::from(pack.values[0]);
  } else {
    constexpr int bytes = count * sizeof(T) < 16 ? count * sizeof(T) : 16, part = bytes / sizeof(T);
#pragma unroll
    for (int first = 0; first < count; first += part) {
      Pack<T, part> stored;
#pragma unroll
      for (int k = 0; k < part; ++k) stored.values[k] = Narrow<T>::from(pack.values[first + k]);
      store_bits(static_cast<T*>(data) + at + first, __builtin_bit_cast(Bits<bytes>, stored));
    }
  }
}
template <int count>
__device__ void store_pack(void* data, Dtype type, std::int64_t at, const Pack<float, count>& pack) {
  if (type == Dtype::f16) {
    store_pack_of<math::Float16>(data, at, pack);
  } else if (type == Dtype::bf16) {
    store_pack_of<math::Bfloat16>(data, at, pack);
  } else {
    store_pack_of<float>(data, at, pack);
  }
}

/// A pack of 16 bytes, or one element, as memory has it: as float32 a pack of a 16-bit type takes twice the registers.
template <class T, int count>
class Stored {
 public:
  static_assert(count == 1 || count * sizeof(T) == 16);
  __device__ void load(const void* data, std::int64_t at) {
    if constexpr (count == 1) {
      bits_ = as<T>(data)[at];
    } else {
      load_bits(as<T>(data) + at, bits_);
    }
  }
  __device__ Pack<float, count> values() const {
    if constexpr (count == 1) {
      return {{widen(bits_)}};
    } else {
      return unpack<T>(bits_);
    }
  }

 private:
  std::conditional_t<count == 1, T, Bits<16>> bits_;
};

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

/// Elements of T in 16 bytes: what a thread of the flat loop moves at once.
template <class T>
inline constexpr int wide = 16 / sizeof(T);

// All loads of a turn come before the first use. Functions of one input take two packs a turn: one is too little in
// flight for an H200's bandwidth. `out` may be the memory of an input of the same shape: each element is read and
// written by one thread, in that order.
template <class T, class F>
__device__ void flat_loop(const F& f, const ElementwiseAccess& access, void* out, const Inputs& in) {
  constexpr int arity = arity_of<F, float>, count = wide<T>, packs = arity == 1 ? 2 : 1;
  using Packed = Pack<T, count>;
  // A thread without elements must not read a single value either: another may be writing the result to its place.
  if (first_index() * count >= access.elements) return;
  float single[arity];
#pragma unroll
  for (int n = 0; n < arity; ++n) single[n] = access.stride[n][0] == 0 ? widen(as<T>(in.data[n])[0]) : 0.0F;
  struct Loaded {
    Bits<16> of[arity] = {};  // widened where they are used, for a 16-bit pack has twice its registers as float32
  };
  const auto load = [&](std::int64_t i, Loaded& x) {
#pragma unroll
    for (int n = 0; n < arity; ++n) {
      if (access.stride[n][0] != 0) load_bits(as<T>(in.data[n]) + i, x.of[n]);
    }
  };
  const auto compute = [&](std::int64_t i, const Loaded& x) {
    Pack<float, count> result;
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const auto at = [&](int n) {
        return access.stride[n][0] != 0 ? widen(__builtin_bit_cast(Packed, x.of[n]).values[k]) : single[n];
      };
      result.values[k] = apply(f, at);
    }
    store_pack_of<T>(out, i, result);
  };
  const auto compute_rest = [&](std::int64_t i) {
#pragma unroll 1  // a GPU's last few elements: a loop is less code
    for (std::int64_t k = i; k < access.elements; ++k) {
      const auto at = [&](int n) { return widen(as<T>(in.data[n])[k * access.stride[n][0]]); };
      static_cast<T*>(out)[k] = Narrow<T>::from(apply(f, at));
    }
  };
  for (std::int64_t i = first_index() * count; i < access.elements; i += index_step() * (count * packs)) {
    if (i + count <= access.elements) {
      Loaded x;
      load(i, x);
      if constexpr (packs == 2) {
        const std::int64_t second = i + index_step() * count;
        const bool whole = second + count <= access.elements;
        Loaded y;
        if (whole) load(second, y);
        compute(i, x);
        if (whole) {
          compute(second, y);
        } else {
          compute_rest(second);
        }
      } else {
        compute(i, x);
      }
    } else {
      compute_rest(i);
    }
  }
}

/// Blocks that a multiprocessor must hold, which limits their registers to 40: 48 KiB of loads are then in flight, what
/// an H200's bandwidth takes. Turing's multiprocessors hold 1024 threads.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int flat_blocks = 4;
#else
inline constexpr int flat_blocks = 6;
#endif

template <class F>
__global__ void __launch_bounds__(block_threads, flat_blocks)
    flat_kernel(F f, ElementwiseAccess access, void* out, Inputs in) {
  if (access.output_type == Dtype::f16) {
    flat_loop<math::Float16>(f, access, out, in);
  } else if (access.output_type == Dtype::bf16) {
    flat_loop<math::Bfloat16>(f, access, out, in);
  } else {
    flat_loop<float>(f, access, out, in);
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
  return launch_filling<&general_kernel<F, C>>(on, access.elements, block_threads * pack_size, F{}, access, out,
                                               inputs);
}

/// Chooses the kernel: flat where F maps floats to floats, general elsewhere. `domain`: the types for which F is
/// defined. `broadcasts`: whether inputs may have other shapes than the output; else all floats are flat.
template <class F, math::Domain domain, bool broadcasts>
cudaError_t launch_function(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in) {
  if (access.elements == 0) return cudaSuccess;
  [[maybe_unused]] const Dtype type = access.input_types[0];
  if constexpr (domain == math::Domain::floats || domain == math::Domain::numbers) {
    if (is_floating(type) && (!broadcasts || access.rank == 1)) {
      Inputs inputs{};
      constexpr int arity = arity_of<F, float>;
      for (int n = 0; n < arity; ++n) inputs.data[n] = in[n];
      const std::int64_t per_block = block_threads * 16 / static_cast<std::int64_t>(size_of(type));
      return launch_filling<&flat_kernel<F>>(on, access.elements, per_block, F{}, access, out, inputs);
    }
  }
  if constexpr (broadcasts && domain != math::Domain::bools) {
    if (is_floating(type)) return launch_general<F, float>(on, access, out, in);
  }
  if constexpr (domain != math::Domain::floats) return launch_general<F, std::int64_t>(on, access, out, in);
  return cudaErrorInvalidValue;
}

}  // namespace gpubench::cuda
