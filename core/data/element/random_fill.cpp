#include "core/data/element/random_fill.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>

#include "core/base/error.h"
#include "core/math/half.h"
#include "core/math/philox.h"

namespace gpubench {
namespace {

/// 32 random bits per value, two values per draw.
template <class T, class Convert>
void fill_by_halves(std::byte* to, std::int64_t count, const CounterRandom& random, std::uint64_t first,
                    Convert&& convert) {
  T* const values = reinterpret_cast<T*>(to);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random.bits(first + static_cast<std::uint64_t>(i) / 2);
    values[i] = convert(static_cast<std::uint32_t>(i % 2 == 0 ? bits : bits >> 32));
  }
}

void fill_bytes(std::byte* to, std::int64_t count, const CounterRandom& random, std::uint64_t first,
                std::uint8_t mask) {
  constexpr std::int64_t lanes = 8;
  for (std::int64_t i = 0; i < count; i += lanes) {
    std::uint64_t bits = random.bits(first + static_cast<std::uint64_t>(i / lanes));
    for (std::int64_t j = i; j < std::min(i + lanes, count); ++j, bits >>= 8) {
      to[j] = static_cast<std::byte>(bits & mask);
    }
  }
}

template <class T>
void fill_integers(std::byte* to, std::int64_t count, const CounterRandom& random, std::uint64_t first,
                   std::int64_t classes) {
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  const std::uint64_t bound = std::min(static_cast<std::uint64_t>(classes), most + 1);
  fill_by_halves<T>(to, count, random, first,
                    [bound](std::uint32_t bits) { return static_cast<T>((bits * bound) >> 32); });
}

struct Filler {
  Dtype dtype;
  RandomFill fill;
};

constexpr std::array fillers{
    Filler{Dtype::f32, [](std::byte* to, std::int64_t n, const CounterRandom& r, std::uint64_t at,
                          std::int64_t) { fill_by_halves<float>(to, n, r, at, &math::to_uniform); }},
    Filler{Dtype::f16,
           [](std::byte* to, std::int64_t n, const CounterRandom& r, std::uint64_t at, std::int64_t) {
             // 11 bits, so that rounding never gives 1.
             fill_by_halves<math::Float16>(to, n, r, at, [](std::uint32_t bits) {
               return math::to_float16(static_cast<float>(bits >> 21) * 0x1p-11F);
             });
           }},
    Filler{Dtype::bf16,
           [](std::byte* to, std::int64_t n, const CounterRandom& r, std::uint64_t at, std::int64_t) {
             fill_by_halves<math::Bfloat16>(to, n, r, at, [](std::uint32_t bits) {
               return math::to_bfloat16(static_cast<float>(bits >> 24) * 0x1p-8F);
             });
           }},
    Filler{Dtype::i64, &fill_integers<std::int64_t>},
    Filler{Dtype::i32, &fill_integers<std::int32_t>},
    Filler{Dtype::i16, &fill_integers<std::int16_t>},
    Filler{Dtype::i8, &fill_integers<std::int8_t>},
    Filler{Dtype::u8, [](std::byte* to, std::int64_t n, const CounterRandom& r, std::uint64_t at,
                         std::int64_t) { fill_bytes(to, n, r, at, 0xFF); }},
    Filler{Dtype::boolean, [](std::byte* to, std::int64_t n, const CounterRandom& r, std::uint64_t at,
                              std::int64_t) { fill_bytes(to, n, r, at, 1); }},
};

}  // namespace

RandomFill random_fill(Dtype dtype) {
  const auto* found = std::find_if(fillers.begin(), fillers.end(), [&](const Filler& f) { return f.dtype == dtype; });
  if (found == fillers.end()) throw Error(fmt::format("synthetic: no random values of {}", to_string(dtype)));
  return found->fill;
}

}  // namespace gpubench
