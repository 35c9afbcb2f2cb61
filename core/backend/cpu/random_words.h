// Random words of a block of neighbouring elements at once, in vector lanes.
#pragma once
#include <cstdint>

#include "core/math/philox.h"

namespace gpubench::cpu {

/// The random words of one block of elements, in the elements' order.
struct WordBlock {
  alignas(64) std::uint32_t words[math::philox_block];
};

inline void fill_words(WordBlock& block, std::uint64_t seed, std::uint64_t step, std::uint64_t first_counter) {
  using math::philox_lanes;
#pragma omp simd
  for (std::int64_t lane = 0; lane < philox_lanes; ++lane) {
    const math::PhiloxWords random = math::philox(seed, step, first_counter + static_cast<std::uint64_t>(lane));
    block.words[lane] = random.word[0];
    block.words[philox_lanes + lane] = random.word[1];
    block.words[2 * philox_lanes + lane] = random.word[2];
    block.words[3 * philox_lanes + lane] = random.word[3];
  }
}

}  // namespace gpubench::cpu
