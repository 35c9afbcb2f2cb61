#include "core/comm/reduce.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <type_traits>

#include "core/base/denormals.h"
#include "core/math/stored.h"

namespace gpubench {
namespace {

/// Sums of this many elements stay in a core's first cache, beside as much of each source.
constexpr std::size_t block_elements = 1024;

struct Sum {
  template <class T>
  static T of(T a, T b) {
    // Integers wrap around, as they do on a GPU.
    if constexpr (std::is_integral_v<T>) {
      using Bits = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b));
    } else {
      return a + b;
    }
  }
};

/// Keeps NaN from either side.
struct Max {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return a > b ? a : b;
    else
      return a > b || a != a ? a : b;
  }
};

/// A destination may be one of the sources, of which no element is read after its result is written.
template <class Stored, class Result>
void write(std::byte* to, std::size_t elements, const Result& result) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < elements; ++i) {
    const Stored value = math::narrow<Stored>(result(i));
    std::memcpy(to + i * sizeof(Stored), &value, sizeof value);
  }
}

template <class Stored, class Operation>
void reduce_as(std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
               std::size_t elements) {
  using Wide = decltype(math::widen(Stored{}));
  // Packed messages have tensors at any address.
  const auto source = [&](std::size_t index, std::size_t first) {
    return [from = sources[index] + first * sizeof(Stored)](std::size_t i) {
      Stored value;
      std::memcpy(&value, from + i * sizeof(Stored), sizeof value);
      return math::widen(value);
    };
  };
  alignas(64) std::array<Wide, block_elements> sums;
  for (std::size_t first = 0; first < elements; first += block_elements) {
    const std::size_t count = std::min(block_elements, elements - first);
    std::byte* const result = destinations[0] + first * sizeof(Stored);
    const auto a = source(0, first), last = source(sources.size() - 1, first);
    if (sources.size() == 1) {
      write<Stored>(result, count, a);
    } else if (sources.size() == 2) {
      write<Stored>(result, count, [&](std::size_t i) { return Operation::of(a(i), last(i)); });
    } else {
      const auto b = source(1, first);
      for (std::size_t i = 0; i < count; ++i) sums[i] = Operation::of(a(i), b(i));
      for (std::size_t next = 2; next + 1 < sources.size(); ++next) {
        const auto c = source(next, first);
        for (std::size_t i = 0; i < count; ++i) sums[i] = Operation::of(sums[i], c(i));
      }
      write<Stored>(result, count, [&](std::size_t i) { return Operation::of(sums[i], last(i)); });
    }
    for (std::byte* const other : destinations.subspan(1))
      std::memcpy(other + first * sizeof(Stored), result, count * sizeof(Stored));
  }
}

template <class Operation>
void reduce_by(Dtype dtype, std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
               std::size_t elements) {
  if (dtype == Dtype::f32) return reduce_as<float, Operation>(sources, destinations, elements);
  if (dtype == Dtype::f16) return reduce_as<math::Float16, Operation>(sources, destinations, elements);
  if (dtype == Dtype::bf16) return reduce_as<math::Bfloat16, Operation>(sources, destinations, elements);
  if (dtype == Dtype::i64) return reduce_as<std::int64_t, Operation>(sources, destinations, elements);
  assert(dtype == Dtype::i32);
  reduce_as<std::int32_t, Operation>(sources, destinations, elements);
}

}  // namespace

void reduce(Dtype dtype, Reduction reduction, std::span<const std::byte* const> sources,
            std::span<std::byte* const> destinations, std::size_t elements) {
  const FlushedDenormals flushed;
  if (reduction == Reduction::sum)
    reduce_by<Sum>(dtype, sources, destinations, elements);
  else
    reduce_by<Max>(dtype, sources, destinations, elements);
}

Dtype sum_dtype(Dtype dtype) {
  return dtype == Dtype::f16 || dtype == Dtype::bf16 ? Dtype::f32 : dtype;
}

void widen(Dtype dtype, const std::byte* from, std::byte* sums, std::size_t elements) {
  auto* const to = reinterpret_cast<float*>(sums);
  const auto each = [&](const auto* source) {
    for (std::size_t i = 0; i < elements; ++i) to[i] = math::widen(source[i]);
  };
  if (dtype == Dtype::f16)
    each(reinterpret_cast<const math::Float16*>(from));
  else if (dtype == Dtype::bf16)
    each(reinterpret_cast<const math::Bfloat16*>(from));
  else if (elements > 0)
    std::memcpy(sums, from, elements * size_of(dtype));
}

void narrow(Dtype dtype, const std::byte* sums, std::byte* to, std::size_t elements) {
  const auto* const from = reinterpret_cast<const float*>(sums);
  const auto each = [&]<class Stored>(Stored* destination) {
    for (std::size_t i = 0; i < elements; ++i) destination[i] = math::narrow<Stored>(from[i]);
  };
  if (dtype == Dtype::f16)
    each(reinterpret_cast<math::Float16*>(to));
  else if (dtype == Dtype::bf16)
    each(reinterpret_cast<math::Bfloat16*>(to));
  else if (elements > 0)
    std::memcpy(to, sums, elements * size_of(dtype));
}

}  // namespace gpubench
