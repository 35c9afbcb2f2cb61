// Random numbers as a function of (seed, epoch, position). There is no state, so any thread can draw any number and an
// epoch can be resumed in the middle. SplitMix64's output function over a counter; kernels use Philox instead.
#pragma once
#include <cstdint>

#include "core/base/split_mix.h"

namespace gpubench {

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

}  // namespace gpubench
