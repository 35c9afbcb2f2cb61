// Random numbers as a function of (seed, epoch, position): no state, so any thread can draw any of them and an epoch
// can be resumed in its middle. SplitMix64's output function over a counter; not for kernels, which use Philox.
#pragma once
#include <cstdint>

namespace gpubench {

class CounterRandom {
 public:
  CounterRandom(std::uint64_t seed, std::uint64_t epoch) : key_(mix(mix(seed + step) ^ (epoch * step))) {}

  /// 64 random bits for `position`.
  std::uint64_t bits(std::uint64_t position) const { return mix(key_ + position * step); }
  /// Uniform in [0, bound); its bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound, std::uint64_t position) const {
    return static_cast<std::uint64_t>((static_cast<Wide>(bits(position)) * bound) >> 64);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t step = 0x9E3779B97F4A7C15U;  // 2^64 / golden ratio: counters land far apart

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  std::uint64_t key_;
};

}  // namespace gpubench
