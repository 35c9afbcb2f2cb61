// What can be computed in, of types that are stored in fewer bits: they widen to float32 first and are narrowed last.
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

/// The nearest value, to even in the middle.
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
