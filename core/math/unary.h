// Element-wise functions of one number, as function objects. Named after the ops that use them.
#pragma once
#include "core/math/elementary.h"

namespace gpubench::math {

struct Neg {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(-x);
  }
};
struct Abs {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(x < T{0} ? -x : x);
  }
};
struct Sign {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(T x) const {
    return static_cast<T>((T{0} < x) - (x < T{0}));
  }
};
struct Square {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(x * x);
  }
};
struct Sqrt {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return sqrtf(x); }
};
struct Rsqrt {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return 1.0F / sqrtf(x); }
};
struct Exp {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return exp(x); }
};
struct Log {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return log(x); }
};
struct Floor {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return floorf(x); }
};
struct Ceil {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return ceilf(x); }
};
/// To the nearest whole number, and to the even one of two that are as near.
struct Round {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return rintf(x); }
};
/// Not a number stays, so that a diverged model shows.
struct Relu {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return x < 0.0F ? 0.0F : x; }
};
struct Sigmoid {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return sigmoid(x); }
};
struct Tanh {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return tanh(x); }
};
struct Gelu {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return x * normal_cdf(x); }
};
/// The approximation of gelu by tanh, as x sigmoid(2 u): 1 + tanh(u) is 2 sigmoid(2 u), which cancels nothing.
struct GeluTanh {
  GPUBENCH_HOST_DEVICE static float twice_u(float x) { return x * (1.5957691216F + 0.0713548162F * x * x); }
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return x * sigmoid(twice_u(x)); }
};
struct LogicalNot {
  GPUBENCH_HOST_DEVICE bool operator()(bool x) const { return !x; }
};

// Gradients: dy and the function's result y (gelu and gelu_tanh: its argument x).
struct ReluGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float y) const { return y > 0.0F ? dy : 0.0F; }
};
struct SigmoidGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float y) const { return dy * y * (1.0F - y); }
};
struct TanhGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float y) const { return dy * (1.0F - y * y); }
};
struct GeluGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float x) const {
    return dy * (normal_cdf(x) + x * normal_density(x));
  }
};
struct GeluTanhGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float x) const {
    const float s = sigmoid(GeluTanh::twice_u(x));
    return dy * (s + x * s * (1.0F - s) * (1.5957691216F + 0.2140644488F * x * x));
  }
};

}  // namespace gpubench::math
