// The seeds of a script's initializers, random ops and shuffles: a sequence that one number determines.
#pragma once
#include <cstdint>

#include "core/base/split_mix.h"

namespace gpubench::lua {

class RandomState {
 public:
  explicit RandomState(std::uint64_t seed) : seed_(seed), kept_(seed) {}

  /// Set by gb.config.set_seed, and per point.
  std::uint64_t seed() const { return seed_; }
  void set_seed(std::uint64_t seed) { seed_ = seed, given_ = 0; }
  /// A separate seed for each layer or random op; the same sequence after every set_seed().
  std::uint64_t next_seed() { return split_mix(seed_ + split_mix_step * ++given_); }
  /// For functions that are called twice and compared: next_seed() repeats from the remembered position.
  std::uint64_t seeds_given() const { return given_; }
  void give_seeds_again(std::uint64_t from) { given_ = from; }

  void restart() { given_ = 0; }
  /// From now on reset() restores the current seed.
  void keep() { kept_ = seed_; }
  void reset() { set_seed(kept_); }

 private:
  std::uint64_t seed_, kept_;
  std::uint64_t given_ = 0;
};

}  // namespace gpubench::lua
