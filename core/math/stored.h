// Conversions for types that are stored in 16 bits and computed in float32.
#pragma once
#include <type_traits>

#include "core/math/half.h"

namespace gpubench::math {

template <class T>
T widen(T x) {
  return x;
}
inline float widen(Float16 x) {
  return to_float(x);
}
inline float widen(Bfloat16 x) {
  return to_float(x);
}

/// Rounds to nearest, ties to even.
template <class Stored, class Wide>
Stored narrow(Wide x) {
  if constexpr (std::is_same_v<Stored, Float16>)
    return to_float16(static_cast<float>(x));
  else if constexpr (std::is_same_v<Stored, Bfloat16>)
    return to_bfloat16(static_cast<float>(x));
  else
    return static_cast<Stored>(x);
}

}  // namespace gpubench::math
