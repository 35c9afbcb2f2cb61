// Random numbers, and values of any type, as a function of a seed and a position: no state, so any thread can draw any
// of them and an epoch can be resumed in its middle.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/base/split_mix.h"
#include "core/tensor/dtype.h"

namespace gpubench {

/// By (seed, epoch, position). SplitMix64's output function over a counter; kernels use Philox instead.
class CounterRandom {
 public:
  CounterRandom(std::uint64_t seed, std::uint64_t epoch)
      : key_(split_mix(split_mix(seed + split_mix_step) ^ (epoch * split_mix_step))) {}

  /// 64 random bits for `position`.
  std::uint64_t bits(std::uint64_t position) const { return split_mix(key_ + position * split_mix_step); }
  /// Uniform in [0, bound); its bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound, std::uint64_t position) const {
    return static_cast<std::uint64_t>((static_cast<Wide>(bits(position)) * bound) >> 64);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t key_;
};

/// Writes `count` values, using fewer than count / 2 + 1 draws from position `first` on. Floating values are in [0, 1),
/// integers in [0, classes), uint8 any byte.
using RandomFill = void (*)(std::byte* to, std::int64_t count, const CounterRandom& random, std::uint64_t first,
                            std::int64_t classes);

/// Throws Error for types without random values.
RandomFill random_fill(Dtype dtype);

}  // namespace gpubench
