// Element-wise functions of two or three values, as function objects. Named after the ops that use them.
#pragma once
#include <cmath>
#include <type_traits>

#include "core/math/host_device.h"

namespace gpubench::math {

struct Add {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Sub {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(a - b);
  }
};
struct Mul {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(a * b);
  }
};
struct Div {
  GPUBENCH_HOST_DEVICE float operator()(float a, float b) const { return a / b; }
};
/// The library's: exp(b * log(a)) would lose digits with every power of ten of the result.
struct Pow {
  GPUBENCH_HOST_DEVICE float operator()(float a, float b) const { return powf(a, b); }
};
/// Rounded down, as Lua's //. Integers: 0 for a divisor of 0, as in NumPy; the processor would end the program.
struct FloorDiv {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return floorf(a / b);
    } else {
      if (b == T{0}) return T{0};
      if constexpr (std::is_signed_v<T>) {
        if (b == T{-1}) return static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(a));
      }
      const T quotient = static_cast<T>(a / b);
      return static_cast<T>(quotient * b != a && (a < T{0}) != (b < T{0}) ? quotient - 1 : quotient);
    }
  }
};
/// What FloorDiv leaves, of the divisor's sign, as Lua's %. Integers: 0 for a divisor of 0.
struct FloorMod {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T rest = fmodf(a, b);
      return rest != T{0} && (rest < T{0}) != (b < T{0}) ? rest + b : rest;
    } else {
      if (b == T{0}) return T{0};
      if constexpr (std::is_signed_v<T>) {
        if (b == T{-1}) return T{0};
      }
      const T rest = static_cast<T>(a % b);
      return static_cast<T>(rest != T{0} && (rest < T{0}) != (b < T{0}) ? rest + b : rest);
    }
  }
};
/// Not a number wins, as in NumPy.
struct Maximum {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};
struct Minimum {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

struct Equal {
  template <class T>
  GPUBENCH_HOST_DEVICE bool operator()(T a, T b) const {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  GPUBENCH_HOST_DEVICE bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Less {
  template <class T>
  GPUBENCH_HOST_DEVICE bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  GPUBENCH_HOST_DEVICE bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  GPUBENCH_HOST_DEVICE bool operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  GPUBENCH_HOST_DEVICE bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct LogicalAnd {
  GPUBENCH_HOST_DEVICE bool operator()(bool a, bool b) const { return a && b; }
};
struct LogicalOr {
  GPUBENCH_HOST_DEVICE bool operator()(bool a, bool b) const { return a || b; }
};
struct Select {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(bool condition, T a, T b) const {
    return condition ? a : b;
  }
};

}  // namespace gpubench::math
