// Philox4x32-10: random numbers as a pure function of (seed, step, element), the same on every device and for any
// number of threads (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). Sixteen neighbouring elements
// use the same word of sixteen neighbouring counters, so that loops over them vectorize.
#pragma once
#include <cstdint>

#include "core/math/elementary.h"
#include "core/math/host_device.h"

namespace gpubench::math {

/// Elements that share one set of counters: `philox_lanes` counters of four words each.
inline constexpr std::int64_t philox_lanes = 16, philox_block = 4 * philox_lanes;

struct PhiloxWords {
  std::uint32_t word[4];
};

/// The four words of one counter; `step` is the upper half of the counter, `seed` the key.
GPUBENCH_HOST_DEVICE PhiloxWords philox(std::uint64_t seed, std::uint64_t step, std::uint64_t counter) {
  constexpr std::uint32_t multiplier0 = 0xD2511F53U, multiplier1 = 0xCD9E8D57U;
  constexpr std::uint32_t weyl0 = 0x9E3779B9U, weyl1 = 0xBB67AE85U;
  std::uint32_t c0 = static_cast<std::uint32_t>(counter), c1 = static_cast<std::uint32_t>(counter >> 32);
  std::uint32_t c2 = static_cast<std::uint32_t>(step), c3 = static_cast<std::uint32_t>(step >> 32);
  std::uint32_t key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{multiplier0} * c0, product1 = std::uint64_t{multiplier1} * c2;
    const std::uint32_t high0 = static_cast<std::uint32_t>(product0 >> 32);
    const std::uint32_t high1 = static_cast<std::uint32_t>(product1 >> 32);
    c0 = high1 ^ c1 ^ key0;
    c2 = high0 ^ c3 ^ key1;
    c1 = static_cast<std::uint32_t>(product1);
    c3 = static_cast<std::uint32_t>(product0);
    key0 += weyl0;
    key1 += weyl1;
  }
  return {{c0, c1, c2, c3}};
}

/// The word of element `i`, equal to the one from loops over whole blocks. The second word comes from counters that no
/// first word uses.
GPUBENCH_HOST_DEVICE std::uint32_t philox_word(std::uint64_t seed, std::uint64_t step, std::int64_t i,
                                               bool second = false) {
  const auto counter = static_cast<std::uint64_t>(i / philox_block * philox_lanes + i % philox_lanes);
  const PhiloxWords words = philox(seed, step, counter | (second ? std::uint64_t{1} << 63 : 0));
  const auto which = i % philox_block / philox_lanes;
  return which == 0 ? words.word[0] : which == 1 ? words.word[1] : which == 2 ? words.word[2] : words.word[3];
}

/// Uniform in [0, 1), from the upper 24 bits.
GPUBENCH_HOST_DEVICE float to_uniform(std::uint32_t bits) {
  return static_cast<float>(static_cast<std::int32_t>(bits >> 8)) * 0x1p-24F;
}

/// cos(2 pi u) for u in [0, 1), reduced to the nearest quarter turn.
GPUBENCH_HOST_DEVICE float cos_turns(float u) {
  const auto quarter = static_cast<std::int32_t>(4.0F * u + 0.5F);
  const float x = (u - 0.25F * static_cast<float>(quarter)) * 6.28318531F;  // within an eighth of a turn
  const float z = x * x;
  const float cosine = 1.0F - 0.5F * z + z * z * (4.166664568e-2F + z * (-1.388731625e-3F + z * 2.443315712e-5F));
  const float sine = x + x * z * (-1.6666654611e-1F + z * (8.3321608736e-3F + z * -1.9515295891e-4F));
  const float value = (quarter & 1) != 0 ? sine : cosine;
  return quarter == 1 || quarter == 2 ? -value : value;
}

/// A normally distributed number from two words (Box-Muller).
GPUBENCH_HOST_DEVICE float to_normal(std::uint32_t first, std::uint32_t second) {
  const float radius = sqrtf(-2.0F * log(1.0F - to_uniform(first)));  // 1 - u is never 0
  return radius * cos_turns(to_uniform(second));
}

}  // namespace gpubench::math
