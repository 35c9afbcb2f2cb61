// SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"): turns consecutive counters
// into uncorrelated 64-bit numbers.
#pragma once
#include <cstdint>

namespace gpubench {

/// 2^64 / golden ratio, so that its multiples lie far apart. `split_mix(seed + n * split_mix_step)` is the n-th number.
inline constexpr std::uint64_t split_mix_step = 0x9E3779B97F4A7C15U;

/// The finalizer: flipping one bit of `z` flips about half of the result's bits.
constexpr std::uint64_t split_mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

}  // namespace gpubench
