// Conversions between types. What does not fit into an integer type becomes its nearest value, and NaN becomes 0 (of 64
// bits: the least signed value), as on a GPU.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "tests/support/ptx/opcodes.h"

namespace gpubench::ptx {
namespace {

enum class Rounded : std::uint8_t { nearest, down, up, to_zero };

template <class T>
constexpr bool is_half = std::is_same_v<T, math::Float16> || std::is_same_v<T, math::Bfloat16>;

double rounded(double x, Rounded how) {
  switch (how) {
    case Rounded::nearest:
      return std::nearbyint(x);
    case Rounded::down:
      return std::floor(x);
    case Rounded::up:
      return std::ceil(x);
    case Rounded::to_zero:
      break;
  }
  return std::trunc(x);
}

template <class T>
auto widened(T x) {
  if constexpr (is_half<T>) {
    return math::to_float(x);
  } else {
    return x;
  }
}

/// To the nearest value of the type; among 16-bit types the operand is a float.
template <class To, class From>
To narrowed(From x) {
  if constexpr (std::is_same_v<To, math::Float16>) {
    static_assert(!std::is_same_v<From, double>, "would round twice");
    return math::to_float16(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, math::Bfloat16>) {
    static_assert(!std::is_same_v<From, double>, "would round twice");
    return x != x ? math::Bfloat16{0x7FFF} : math::to_bfloat16(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <class To>
To to_integer(double x) {
  constexpr int bits = std::numeric_limits<To>::digits;
  if (std::isnan(x)) return sizeof(To) < sizeof(std::uint64_t) ? To{} : static_cast<To>(std::uint64_t{1} << 63U);
  if (x >= std::ldexp(1.0, bits)) return std::numeric_limits<To>::max();
  if (x <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  return static_cast<To>(x);
}

template <class To, class From>
void convert(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], narrowed<To>(widened(get<From>(thread, at.from[0]))));
}
/// From a type that holds all of them: a sign bit fills what is added.
template <class To, class From>
void convert_saturating(Thread& thread, const Instruction& at) {
  const auto x = get<From>(thread, at.from[0]);
  using Limits = std::numeric_limits<To>;
  const bool below = std::is_signed_v<From> && static_cast<std::int64_t>(x) < static_cast<std::int64_t>(Limits::min());
  const bool above =
      !(std::is_signed_v<From> && x < 0) && static_cast<std::uint64_t>(x) > static_cast<std::uint64_t>(Limits::max());
  set(thread, at.to[0], below ? Limits::min() : above ? Limits::max() : static_cast<To>(x));
}
template <class To, class From>
void convert_to_integer(Thread& thread, const Instruction& at) {
  const double x = widened(get<From>(thread, at.from[0]));
  set(thread, at.to[0], to_integer<To>(rounded(x, static_cast<Rounded>(at.variant))));
}
template <class T>
void round_to_integral(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], static_cast<T>(rounded(get<T>(thread, at.from[0]), static_cast<Rounded>(at.variant))));
}
/// Into the range from 0 to 1; NaN becomes 0.
template <class T>
void saturate(Thread& thread, const Instruction& at) {
  const T x = get<T>(thread, at.from[0]);
  set(thread, at.to[0], x >= 0 ? std::fmin(x, T{1}) : T{});
}
/// float32 from float64, rounded towards zero.
void truncate_double(Thread& thread, const Instruction& at) {
  const auto x = get<double>(thread, at.from[0]);
  const auto nearest = static_cast<float>(x);
  const bool is_beyond = std::fabs(double{nearest}) > std::fabs(x);
  set(thread, at.to[0], is_beyond ? std::nextafter(nearest, 0.0F) : nearest);
}
/// Two floats as one register of 32 bits, the first in its upper half.
template <class Half>
void convert_pair(Thread& thread, const Instruction& at) {
  const auto bits = [&](Register from) { return std::uint32_t{narrowed<Half>(get<float>(thread, from)).bits}; };
  set(thread, at.to[0], bits(at.from[0]) << 16 | bits(at.from[1]));
}
template <class Half>
void convert_relu(Thread& thread, const Instruction& at) {
  const auto x = get<float>(thread, at.from[0]);
  set(thread, at.to[0], narrowed<Half>(x > 0 || x != x ? x : 0.0F));
}
/// The float's upper half.
void truncate_to_bfloat16(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], static_cast<std::uint16_t>(get<std::uint32_t>(thread, at.from[0]) >> 16));
}

template <class To, class From>
void add_conversion(Opcodes& all, const char* rounding, Handler run, std::uint8_t variant = 0) {
  all.add(with_type(with_type(std::string("cvt") + rounding, To::name), From::name), {run, variant});
}

template <class To, class... From>
void add_between_integers(Opcodes& all) {
  using T = typename To::Value;
  (add_conversion<To, From>(all, "", &convert<T, typename From::Value>), ...);
  (add_conversion<To, From>(all, ".sat", &convert_saturating<T, typename From::Value>), ...);
}

template <class To, class... From>
void add_to_integers(Opcodes& all) {
  using T = typename To::Value;
  const auto rounding = [&](const char* name, Rounded how) {
    (add_conversion<To, From>(all, name, &convert_to_integer<T, typename From::Value>, static_cast<std::uint8_t>(how)),
     ...);
  };
  rounding(".rni", Rounded::nearest);
  rounding(".rmi", Rounded::down);
  rounding(".rpi", Rounded::up);
  rounding(".rzi", Rounded::to_zero);
}

template <class To, class... From>
void add_from_integers(Opcodes& all) {
  (add_conversion<To, From>(all, ".rn", &convert<typename To::Value, typename From::Value>), ...);
}

template <class... To>
void add_integers(Opcodes& all) {
  (add_between_integers<To, U8, U16, U32, U64, S8, S16, S32, S64>(all), ...);
  (add_to_integers<To, F16, Bf16, F32, F64>(all), ...);
}

template <class T>
void add_integral(Opcodes& all) {
  const auto rounding = [&](const char* name, Rounded how) {
    add_conversion<T, T>(all, name, &round_to_integral<typename T::Value>, static_cast<std::uint8_t>(how));
  };
  rounding(".rni", Rounded::nearest);
  rounding(".rmi", Rounded::down);
  rounding(".rpi", Rounded::up);
  rounding(".rzi", Rounded::to_zero);
}

}  // namespace

void add_convert_opcodes(Opcodes& all) {
  add_integers<U8, U16, U32, U64, S8, S16, S32, S64>(all);
  add_from_integers<F32, U8, U16, U32, U64, S8, S16, S32, S64>(all);
  add_from_integers<F64, U8, U16, U32, U64, S8, S16, S32, S64>(all);
  add_integral<F32>(all);
  add_integral<F64>(all);
  add_conversion<F64, F32>(all, "", &convert<double, float>);
  add_conversion<F32, F64>(all, ".rn", &convert<float, double>);
  add_conversion<F32, F64>(all, ".rz", &truncate_double);
  add_conversion<F32, F32>(all, ".sat", &saturate<float>);
  add_conversion<F64, F64>(all, ".sat", &saturate<double>);
  add_conversion<F32, F16>(all, "", &convert<float, math::Float16>);
  add_conversion<F32, Bf16>(all, "", &convert<float, math::Bfloat16>);
  add_conversion<F16, F32>(all, ".rn", &convert<math::Float16, float>);
  add_conversion<Bf16, F32>(all, ".rn", &convert<math::Bfloat16, float>);
  add_conversion<Bf16, F32>(all, ".rz", &truncate_to_bfloat16);
  add_conversion<F16, F32>(all, ".rn.relu", &convert_relu<math::Float16>);
  add_conversion<Bf16, F32>(all, ".rn.relu", &convert_relu<math::Bfloat16>);
  all.add("cvt.rn.f16x2.f32", {&convert_pair<math::Float16>});
  all.add("cvt.rn.bf16x2.f32", {&convert_pair<math::Bfloat16>});
}

}  // namespace gpubench::ptx
