// Element-wise functions: the function objects that kernels of every backend apply, and the table from which ops,
// kernels and methods of Lua's Tensor are generated. A new function needs its object and its row here, and its
// derivative in core/ops/elementwise.cpp.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/math/elementary.h"
#include "core/math/host_device.h"

namespace gpubench::math {

/// Accepted types of a function: floating; also integers; also bool; or only bool.
enum class Domain : std::uint8_t { floats, numbers, numbers_and_bool, bools };

}  // namespace gpubench::math

// ROW(Kind, name, Type, domain, cost, flops). Kind: UnaryOp, GradientOp, ArithmeticOp or PredicateOp. name: the op's
// name. Type: the function object here and the op in core/ops/elementwise.h. domain: accepted types. cost: compute cost
// of one element for choosing the number of threads (a polynomial has a dozen terms). flops: operations that reports
// count; a division, root or transcendental function counts as one.

/// One argument; also methods of Lua's Tensor with the same name.
#define GPUBENCH_METHOD_FUNCTIONS(ROW)        \
  ROW(Unary, abs, Abs, numbers, 0, 1)         \
  ROW(Unary, sign, Sign, numbers, 0, 1)       \
  ROW(Unary, square, Square, numbers, 0, 1)   \
  ROW(Unary, sqrt, Sqrt, floats, 0, 1)        \
  ROW(Unary, rsqrt, Rsqrt, floats, 0, 2)      \
  ROW(Unary, exp, Exp, floats, 16, 1)         \
  ROW(Unary, expm1, Expm1, floats, 32, 1)     \
  ROW(Unary, log, Log, floats, 24, 1)         \
  ROW(Unary, log1p, Log1p, floats, 30, 1)     \
  ROW(Unary, sin, Sin, floats, 32, 1)         \
  ROW(Unary, cos, Cos, floats, 32, 1)         \
  ROW(Unary, tan, Tan, floats, 34, 1)         \
  ROW(Unary, arctan, Arctan, floats, 24, 1)   \
  ROW(Unary, floor, Floor, floats, 0, 1)      \
  ROW(Unary, ceil, Ceil, floats, 0, 1)        \
  ROW(Unary, round, Round, floats, 0, 1)      \
  ROW(Unary, relu, Relu, floats, 0, 1)        \
  ROW(Unary, sigmoid, Sigmoid, floats, 20, 4) \
  ROW(Unary, tanh, Tanh, floats, 32, 1)       \
  ROW(Unary, erf, Erf, floats, 48, 1)         \
  ROW(Unary, silu, Silu, floats, 21, 5)

/// One argument.
#define GPUBENCH_UNARY_FUNCTIONS(ROW)            \
  GPUBENCH_METHOD_FUNCTIONS(ROW)                 \
  ROW(Unary, neg, Neg, numbers, 0, 1)            \
  ROW(Unary, gelu, Gelu, floats, 40, 5)          \
  ROW(Unary, gelu_tanh, GeluTanh, floats, 28, 8) \
  ROW(Unary, relu6, Relu6, floats, 0, 2)         \
  ROW(Unary, softplus, Softplus, floats, 42, 5)

/// dy and the function's result or argument, of the same shape.
#define GPUBENCH_GRADIENT_FUNCTIONS(ROW)                         \
  ROW(Gradient, relu_gradient, ReluGradient, floats, 0, 1)       \
  ROW(Gradient, relu6_gradient, Relu6Gradient, floats, 0, 2)     \
  ROW(Gradient, sigmoid_gradient, SigmoidGradient, floats, 0, 3) \
  ROW(Gradient, tanh_gradient, TanhGradient, floats, 0, 3)       \
  ROW(Gradient, erf_gradient, ErfGradient, floats, 20, 4)        \
  ROW(Gradient, silu_gradient, SiluGradient, floats, 24, 9)      \
  ROW(Gradient, gelu_gradient, GeluGradient, floats, 64, 11)     \
  ROW(Gradient, gelu_tanh_gradient, GeluTanhGradient, floats, 36, 15)

/// Two numbers, broadcast.
#define GPUBENCH_ARITHMETIC_FUNCTIONS(ROW)               \
  ROW(Arithmetic, add, Add, numbers, 0, 1)               \
  ROW(Arithmetic, sub, Sub, numbers, 0, 1)               \
  ROW(Arithmetic, mul, Mul, numbers, 0, 1)               \
  ROW(Arithmetic, div, Div, floats, 0, 1)                \
  ROW(Arithmetic, pow, Pow, floats, 200, 1)              \
  ROW(Arithmetic, floor_div, FloorDiv, numbers, 8, 1)    \
  ROW(Arithmetic, floor_mod, FloorMod, numbers, 24, 1)   \
  ROW(Arithmetic, maximum, Maximum, numbers, 0, 1)       \
  ROW(Arithmetic, minimum, Minimum, numbers, 0, 1)       \
  ROW(Arithmetic, leaky_relu, LeakyRelu, floats, 0, 1)   \
  ROW(Arithmetic, leaky_slope, LeakySlope, floats, 0, 0) \
  ROW(Arithmetic, elu, Elu, floats, 18, 3)               \
  ROW(Arithmetic, elu_slope, EluSlope, floats, 17, 2)

/// Two values, broadcast; the result is bool.
#define GPUBENCH_PREDICATES(ROW)                                      \
  ROW(Predicate, equal, Equal, numbers_and_bool, 0, 1)                \
  ROW(Predicate, not_equal, NotEqual, numbers_and_bool, 0, 1)         \
  ROW(Predicate, less, Less, numbers_and_bool, 0, 1)                  \
  ROW(Predicate, less_equal, LessEqual, numbers_and_bool, 0, 1)       \
  ROW(Predicate, greater, Greater, numbers_and_bool, 0, 1)            \
  ROW(Predicate, greater_equal, GreaterEqual, numbers_and_bool, 0, 1) \
  ROW(Predicate, logical_and, LogicalAnd, bools, 0, 1)                \
  ROW(Predicate, logical_or, LogicalOr, bools, 0, 1)

/// Functions from floats to float: the possible steps of a chain.
#define GPUBENCH_FLOAT_FUNCTIONS(ROW) \
  GPUBENCH_UNARY_FUNCTIONS(ROW)       \
  GPUBENCH_GRADIENT_FUNCTIONS(ROW)    \
  GPUBENCH_ARITHMETIC_FUNCTIONS(ROW)

#define GPUBENCH_FUNCTIONS_OF_ONE(ROW) \
  GPUBENCH_UNARY_FUNCTIONS(ROW)        \
  ROW(Unary, logical_not, LogicalNot, bools, 0, 1)

#define GPUBENCH_FUNCTIONS_OF_TWO(ROW) \
  GPUBENCH_GRADIENT_FUNCTIONS(ROW)     \
  GPUBENCH_ARITHMETIC_FUNCTIONS(ROW)   \
  GPUBENCH_PREDICATES(ROW)

#define GPUBENCH_ELEMENTWISE_FUNCTIONS(ROW) \
  GPUBENCH_FUNCTIONS_OF_ONE(ROW)            \
  GPUBENCH_FUNCTIONS_OF_TWO(ROW)

namespace gpubench::math {

/// A step of a chain.
enum class Function : std::uint8_t {
#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) name,
  GPUBENCH_FLOAT_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW
};

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
struct Expm1 {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return expm1(x); }
};
struct Log1p {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return log1p(x); }
};
struct Sin {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return sine(x); }
};
struct Cos {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return cosine(x); }
};
struct Tan {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return tangent(x); }
};
struct Arctan {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return arctangent(x); }
};
struct Floor {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return floorf(x); }
};
struct Ceil {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return ceilf(x); }
};
/// To the nearest integer; ties to even.
struct Round {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return rintf(x); }
};
/// Keeps NaN, so that a diverged model is visible.
struct Relu {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return x < 0.0F ? 0.0F : x; }
};
/// min(max(x, 0), 6). Keeps NaN.
struct Relu6 {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return x < 0.0F ? 0.0F : (x > 6.0F ? 6.0F : x); }
};
/// log(1 + exp(x)), without overflow.
struct Softplus {
  GPUBENCH_HOST_DEVICE float operator()(float x) const {
    return (x > 0.0F ? x : 0.0F) + log(1.0F + exp(x < 0.0F ? x : -x));
  }
};
struct Sigmoid {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return sigmoid(x); }
};
struct Tanh {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return tanh(x); }
};
/// Swish: x sigmoid(x).
struct Silu {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return x * sigmoid(x); }
};
struct Erf {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return erf(x); }
};
struct Gelu {
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return x * normal_cdf(x); }
};
/// The tanh approximation of gelu as x sigmoid(2 u): 1 + tanh(u) equals 2 sigmoid(2 u), which avoids cancellation.
struct GeluTanh {
  GPUBENCH_HOST_DEVICE static float twice_u(float x) { return x * (1.5957691216F + 0.0713548162F * x * x); }
  GPUBENCH_HOST_DEVICE float operator()(float x) const { return x * sigmoid(twice_u(x)); }
};

// Gradients: of dy and the function's result y (erf, silu, gelu and gelu_tanh: its argument x).
struct ReluGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float y) const { return y > 0.0F ? dy : 0.0F; }
};
struct Relu6Gradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float y) const { return y > 0.0F && y < 6.0F ? dy : 0.0F; }
};
struct SigmoidGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float y) const { return dy * y * (1.0F - y); }
};
struct TanhGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float y) const { return dy * (1.0F - y * y); }
};
struct SiluGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float x) const {
    const float s = sigmoid(x);
    return dy * (s + x * s * (1.0F - s));
  }
};
struct ErfGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float x) const { return dy * 1.128379167F * exp(-x * x); }
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
/// The library's pow: exp(b * log(a)) would lose a digit for every power of ten of the result.
struct Pow {
  GPUBENCH_HOST_DEVICE float operator()(float a, float b) const { return powf(a, b); }
};
/// Rounded down, like Lua's //. Integer division by 0 gives 0, as in NumPy; the processor would end the program.
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
/// The remainder of FloorDiv with the divisor's sign, like Lua's %. Integers: 0 for a divisor of 0.
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
/// NaN if either argument is NaN, as in NumPy.
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

// Functions with a parameter, which broadcasts like every second argument, and their slopes d f / d x.
struct LeakyRelu {
  GPUBENCH_HOST_DEVICE float operator()(float x, float slope) const { return x < 0.0F ? slope * x : x; }
};
struct LeakySlope {
  GPUBENCH_HOST_DEVICE float operator()(float x, float slope) const { return x < 0.0F ? slope : 1.0F; }
};
struct Elu {
  GPUBENCH_HOST_DEVICE float operator()(float x, float alpha) const { return x < 0.0F ? alpha * (exp(x) - 1.0F) : x; }
};
struct EluSlope {
  GPUBENCH_HOST_DEVICE float operator()(float x, float alpha) const { return x < 0.0F ? alpha * exp(x) : 1.0F; }
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
struct LogicalNot {
  GPUBENCH_HOST_DEVICE bool operator()(bool x) const { return !x; }
};
struct Select {
  template <class T>
  GPUBENCH_HOST_DEVICE T operator()(bool condition, T a, T b) const {
    return condition ? a : b;
  }
};

}  // namespace gpubench::math
