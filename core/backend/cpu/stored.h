// Types that are stored and not computed in: what they widen to, and how results become them again.
#pragma once
#include <type_traits>

#include "core/backend/cpu/dispatch.h"
#include "core/math/stored.h"

namespace gpubench {

template <>
inline constexpr Dtype dtype_of<math::Float16> = Dtype::f16;
template <>
inline constexpr Dtype dtype_of<math::Bfloat16> = Dtype::bf16;

namespace cpu {

using Floating = Types<float, math::Float16, math::Bfloat16>;
using Everything = Types<float, math::Float16, math::Bfloat16, std::int64_t, std::int32_t, std::int16_t, std::int8_t,
                         std::uint8_t, bool>;

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

}  // namespace cpu
}  // namespace gpubench
