// Maps a Dtype, known when a kernel is planned, to a C++ type, known at compile time. 16-bit floats are stored but not
// computed in: here is what they widen to, and how results are narrowed again.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/backend/backend.h"
#include "core/base/error.h"
#include "core/math/stored.h"

namespace gpubench {

template <>
inline constexpr Dtype dtype_of<math::Float16> = Dtype::f16;
template <>
inline constexpr Dtype dtype_of<math::Bfloat16> = Dtype::bf16;

}  // namespace gpubench

namespace gpubench::cpu {

template <class... T>
struct Types {};

using Numbers = Types<float, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t>;
using Integers = Types<std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t>;
using NumbersAndBool = Types<float, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t, bool>;

using Floating = Types<float, math::Float16, math::Bfloat16>;
using Everything = Types<float, math::Float16, math::Bfloat16, std::int64_t, std::int32_t, std::int16_t, std::int8_t,
                         std::uint8_t, bool>;

/// Throws Error("cpu: add: bytes is not supported; cast to another type first").
[[noreturn]] inline void refuse_dtype(std::string_view op, Dtype dtype) {
  throw Error("cpu: " + std::string(op) + ": " + std::string(to_string(dtype)) +
              " is not supported; cast to another type first");
}

/// For loops that are written for float32.
inline void require_float32(std::string_view op, const TensorType& type) {
  if (type.dtype != Dtype::f32) refuse_dtype(op, type.dtype);
}

/// Calls make.template operator()<T>() for the T in the list that stores `dtype`; throws if there is none.
template <class... T, class Make>
std::unique_ptr<Kernel> dispatch(Types<T...>, std::string_view op, Dtype dtype, const Make& make) {
  std::unique_ptr<Kernel> kernel;
  ((dtype_of<T> == dtype ? (void)(kernel = make.template operator()<T>()) : (void)0), ...);
  if (kernel == nullptr) refuse_dtype(op, dtype);
  return kernel;
}

/// Calls make with the unsigned integer type of the dtype's size. For kernels that only move elements.
template <class Make>
std::unique_ptr<Kernel> dispatch_size(Dtype dtype, const Make& make) {
  switch (size_of(dtype)) {
    case 1:
      return make.template operator()<std::uint8_t>();
    case 2:
      return make.template operator()<std::uint16_t>();
    case 4:
      return make.template operator()<std::uint32_t>();
    default:
      return make.template operator()<std::uint64_t>();
  }
}

/// The memory as elements of T, without a check of the dtype. For kernels planned by dispatch_size.
template <class T>
T* raw(const TensorView& view) {
  return reinterpret_cast<T*>(view.data);
}

using math::widen;

template <class To>
struct CastTo {
  template <class From>
  To operator()(From from) const {
    const auto x = widen(from);
    if constexpr (std::is_same_v<To, bool>)
      return x != decltype(x){0};
    else
      return math::narrow<To>(x);
  }
};

}  // namespace gpubench::cpu
