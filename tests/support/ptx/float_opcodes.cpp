// Arithmetic of floating-point numbers. The sources of this folder are compiled without contraction, so that only fma
// rounds once. Results that are NaN have the bits that GPUs give them.
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tests/support/ptx/opcodes.h"

namespace gpubench::ptx {
namespace {

template <class T>
T as_nan_of_gpu(T x) {
  if (x == x) return x;
  if constexpr (sizeof(T) == sizeof(float)) {
    return std::bit_cast<T>(std::uint32_t{0x7FFFFFFF});
  } else {
    return std::bit_cast<T>(std::uint64_t{0x7FF8000000000000});
  }
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return as_nan_of_gpu(a + b);
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return as_nan_of_gpu(a - b);
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    return as_nan_of_gpu(a * b);
  }
};
struct MultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return as_nan_of_gpu(std::fma(a, b, c));
  }
};
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    return as_nan_of_gpu(a / b);
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T a) const {
    return as_nan_of_gpu(1 / a);
  }
};
struct SquareRoot {
  template <class T>
  T operator()(T a) const {
    return as_nan_of_gpu(std::sqrt(a));
  }
};
struct ReciprocalRoot {
  float operator()(float a) const { return as_nan_of_gpu(static_cast<float>(1 / std::sqrt(double{a}))); }
  double operator()(double a) const { return as_nan_of_gpu(1 / std::sqrt(a)); }
};
/// Of numbers of 64 bits GPUs look at the upper half, and give the upper half of the result.
template <class Function>
struct UpperHalf {
  double operator()(double a) const { return upper(Function{}(upper(a))); }

 private:
  static double upper(double x) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0xFFFFFFFF00000000); }
};
struct Exponential {
  float operator()(float a) const { return as_nan_of_gpu(static_cast<float>(std::exp2(double{a}))); }
};
struct Logarithm {
  float operator()(float a) const { return as_nan_of_gpu(static_cast<float>(std::log2(double{a}))); }
};
struct Sine {
  float operator()(float a) const { return as_nan_of_gpu(static_cast<float>(std::sin(double{a}))); }
};
struct Cosine {
  float operator()(float a) const { return as_nan_of_gpu(static_cast<float>(std::cos(double{a}))); }
};
struct Tangent {
  float operator()(float a) const { return as_nan_of_gpu(static_cast<float>(std::tanh(double{a}))); }
};
struct Absolute {
  template <class T>
  T operator()(T a) const {
    return std::fabs(a);
  }
};
struct Negative {
  template <class T>
  T operator()(T a) const {
    return -a;
  }
};
/// With the sign of the first.
struct CopySign {
  template <class T>
  T operator()(T a, T b) const {
    return std::copysign(b, a);
  }
};

/// The other operand where one is NaN; -0 is less than 0.
template <class T>
bool is_less(T a, T b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    if (std::isnan(a)) return as_nan_of_gpu(b);
    return is_less(b, a) ? b : a;
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    if (std::isnan(a)) return as_nan_of_gpu(b);
    return is_less(a, b) ? b : a;
  }
};
/// NaN where one is.
template <class Function>
struct OrNan {
  float operator()(float a, float b) const {
    return std::isnan(a) || std::isnan(b) ? as_nan_of_gpu(a + b) : Function{}(a, b);
  }
};

struct Saturated {
  float operator()(float x) const { return x >= 0 ? std::fmin(x, 1.0F) : 0.0F; }  // NaN becomes 0
};

template <class Function>
struct Saturating {
  template <class... T>
  float operator()(T... x) const {
    return Saturated{}(Function{}(x...));
  }
};

/// Denormals of operands and of the result become zeros.
struct Flushed {
  float operator()(float x) const {
    return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
  }
};
template <class Function>
struct Flushing {
  template <class... T>
  float operator()(T... x) const {
    return Flushed{}(Function{}(Flushed{}(x)...));
  }
};

/// Rounds as `mode` of <cfenv> says.
template <int mode, class Function>
struct Rounding {
  template <class... T>
  auto operator()(T... x) const {
    const int before = std::fegetround();
    std::fesetround(mode);
    // The compiler must not compute it before or after.
    (touch(x), ...);
    auto result = Function{}(x...);
    touch(result);
    std::fesetround(before);
    return result;
  }

 private:
  template <class T>
  static void touch(T& x) {
    asm volatile("" : "+m"(x) : : "memory");
  }
};

template <int mode>
void add_rounding(Opcodes& all, const std::string& name) {
  add_binary<Rounding<mode, Add>, F32, F64>(all, "add." + name);
  add_binary<Rounding<mode, Subtract>, F32, F64>(all, "sub." + name);
  add_binary<Rounding<mode, Multiply>, F32, F64>(all, "mul." + name);
  add_ternary<Rounding<mode, MultiplyAdd>, F32, F64>(all, "fma." + name);
  add_binary<Rounding<mode, Divide>, F32, F64>(all, "div." + name);
  add_unary<Rounding<mode, Reciprocal>, F32, F64>(all, "rcp." + name);
  add_unary<Rounding<mode, SquareRoot>, F32, F64>(all, "sqrt." + name);
}

void add_to_nearest(Opcodes& all) {
  for (const char* const rounding : {"", ".rn"}) {
    const std::string suffix = rounding;
    add_binary<Add, F32, F64>(all, "add" + suffix);
    add_binary<Subtract, F32, F64>(all, "sub" + suffix);
    add_binary<Multiply, F32, F64>(all, "mul" + suffix);
    add_binary<Flushing<Add>, F32>(all, "add" + suffix + ".ftz");
    add_binary<Flushing<Subtract>, F32>(all, "sub" + suffix + ".ftz");
    add_binary<Flushing<Multiply>, F32>(all, "mul" + suffix + ".ftz");
    add_binary<Saturating<Add>, F32>(all, "add" + suffix + ".sat");
    add_binary<Saturating<Multiply>, F32>(all, "mul" + suffix + ".sat");
  }
  add_ternary<MultiplyAdd, F32, F64>(all, "fma.rn");
  add_ternary<Flushing<MultiplyAdd>, F32>(all, "fma.rn.ftz");
  add_ternary<Saturating<MultiplyAdd>, F32>(all, "fma.rn.sat");
  add_ternary<Saturating<Flushing<MultiplyAdd>>, F32>(all, "fma.rn.ftz.sat");
  add_binary<Divide, F32, F64>(all, "div.rn");
  add_unary<Reciprocal, F32, F64>(all, "rcp.rn");
  add_unary<SquareRoot, F32, F64>(all, "sqrt.rn");
}

/// Those that GPUs only approximate.
void add_approximations(Opcodes& all) {
  add_binary<Divide, F32>(all, "div.approx");
  add_binary<Divide, F32>(all, "div.full");
  add_binary<Flushing<Divide>, F32>(all, "div.approx.ftz");
  add_binary<Flushing<Divide>, F32>(all, "div.full.ftz");
  add_unary<Reciprocal, F32>(all, "rcp.approx");
  add_unary<SquareRoot, F32>(all, "sqrt.approx");
  add_unary<ReciprocalRoot, F32, F64>(all, "rsqrt.approx");
  add_unary<Exponential, F32>(all, "ex2.approx");
  add_unary<Logarithm, F32>(all, "lg2.approx");
  add_unary<Sine, F32>(all, "sin.approx");
  add_unary<Cosine, F32>(all, "cos.approx");
  add_unary<Tangent, F32>(all, "tanh.approx");
  add_unary<Flushing<Reciprocal>, F32>(all, "rcp.approx.ftz");
  add_unary<UpperHalf<Reciprocal>, F64>(all, "rcp.approx.ftz");
  add_unary<UpperHalf<ReciprocalRoot>, F64>(all, "rsqrt.approx.ftz");
  add_unary<Flushing<SquareRoot>, F32>(all, "sqrt.approx.ftz");
  add_unary<Flushing<ReciprocalRoot>, F32>(all, "rsqrt.approx.ftz");
  add_unary<Flushing<Exponential>, F32>(all, "ex2.approx.ftz");
  add_unary<Flushing<Logarithm>, F32>(all, "lg2.approx.ftz");
  add_unary<Flushing<Sine>, F32>(all, "sin.approx.ftz");
  add_unary<Flushing<Cosine>, F32>(all, "cos.approx.ftz");
}

}  // namespace

void add_float_opcodes(Opcodes& all) {
  add_to_nearest(all);
  add_rounding<FE_TOWARDZERO>(all, "rz");
  add_rounding<FE_DOWNWARD>(all, "rm");
  add_rounding<FE_UPWARD>(all, "rp");
  add_approximations(all);
  add_unary<Absolute, F32, F64>(all, "abs");
  add_unary<Negative, F32, F64>(all, "neg");
  add_unary<Flushing<Absolute>, F32>(all, "abs.ftz");
  add_unary<Flushing<Negative>, F32>(all, "neg.ftz");
  add_binary<CopySign, F32, F64>(all, "copysign");
  add_binary<Minimum, F32, F64>(all, "min");
  add_binary<Maximum, F32, F64>(all, "max");
  add_binary<Flushing<Minimum>, F32>(all, "min.ftz");
  add_binary<Flushing<Maximum>, F32>(all, "max.ftz");
  add_binary<OrNan<Minimum>, F32>(all, "min.NaN");
  add_binary<OrNan<Maximum>, F32>(all, "max.NaN");
}

}  // namespace gpubench::ptx
