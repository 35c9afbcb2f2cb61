// Types that are stored and not computed in: what they widen to, and how results become them again.
#pragma once
#include <type_traits>

#include "core/backend/cpu/dispatch.h"
#include "core/math/half.h"

namespace gpubench {

template <>
inline constexpr Dtype dtype_of<math::Float16> = Dtype::f16;
template <>
inline constexpr Dtype dtype_of<math::Bfloat16> = Dtype::bf16;

namespace cpu {

using Floating = Types<float, math::Float16, math::Bfloat16>;
using Everything = Types<float, math::Float16, math::Bfloat16, std::int64_t, std::int32_t, std::int16_t, std::int8_t,
                         std::uint8_t, bool>;

/// What arithmetic can be done on: storage types become float first.
template <class T>
T widen(T x) {
  return x;
}
inline float widen(math::Float16 x) {
  return math::to_float(x);
}
inline float widen(math::Bfloat16 x) {
  return math::to_float(x);
}

template <class To>
struct CastTo {
  template <class From>
  To operator()(From from) const {
    const auto x = widen(from);
    if constexpr (std::is_same_v<To, bool>) {
      return x != decltype(x){0};
    } else if constexpr (std::is_same_v<To, math::Float16>) {
      return math::to_float16(static_cast<float>(x));
    } else if constexpr (std::is_same_v<To, math::Bfloat16>) {
      return math::to_bfloat16(static_cast<float>(x));
    } else {
      return static_cast<To>(x);
    }
  }
};

}  // namespace cpu
}  // namespace gpubench
