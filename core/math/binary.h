// Element-wise functions of two or three values, as function objects. Named after the ops that use them.
#pragma once
#include <cmath>

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
