#include "core/nn/random_values.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/math/philox.h"

namespace gpubench {
namespace {

constexpr std::size_t block = 64;  // elements whose numbers are drawn at once
using Block = std::array<float, block>;

/// Unit uniform numbers of elements from `first`, a multiple of 4: four neighbours share a counter.
void draw_uniform(Block& drawn, std::uint64_t seed, std::size_t first) {
#pragma omp simd
  for (std::size_t i = 0; i < block / 4; ++i) {
    const math::PhiloxWords words = math::philox(seed, 0, first / 4 + i);
    drawn[4 * i] = math::to_uniform(words.word[0]);
    drawn[4 * i + 1] = math::to_uniform(words.word[1]);
    drawn[4 * i + 2] = math::to_uniform(words.word[2]);
    drawn[4 * i + 3] = math::to_uniform(words.word[3]);
  }
}

float normal(std::uint64_t seed, std::uint64_t attempt, std::size_t element) {
  const math::PhiloxWords words = math::philox(seed, attempt, element);
  return math::to_normal(words.word[0], words.word[1]);
}

void draw_normal(Block& drawn, std::uint64_t seed, std::size_t first) {
#pragma omp simd
  for (std::size_t i = 0; i < block; ++i) {
    const math::PhiloxWords words = math::philox(seed, 0, first + i);
    drawn[i] = math::to_normal(words.word[0], words.word[1]);
  }
}

/// Normal numbers within two of 0: those beyond are drawn again.
void draw_truncated_normal(Block& drawn, std::uint64_t seed, std::size_t first) {
  draw_normal(drawn, seed, first);
  for (std::size_t i = 0; i < block; ++i) {
    for (std::uint64_t attempt = 1; std::abs(drawn[i]) > 2; ++attempt) drawn[i] = normal(seed, attempt, first + i);
  }
}

/// offset + scale * what each element draws.
template <auto draw>
void fill(std::span<float> values, std::uint64_t seed, double offset, double scale) {
  Block drawn;
  for (std::size_t first = 0; first < values.size(); first += block) {
    draw(drawn, seed, first);
    const std::span<float> part = values.subspan(first, std::min(block, values.size() - first));
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] = static_cast<float>(offset + scale * static_cast<double>(drawn[i]));
    }
  }
}

}  // namespace

void fill_uniform(std::span<float> values, std::uint64_t seed, double low, double high) {
  fill<draw_uniform>(values, seed, low, high - low);
}

void fill_normal(std::span<float> values, std::uint64_t seed, double mean, double stddev) {
  fill<draw_normal>(values, seed, mean, stddev);
}

void fill_truncated_normal(std::span<float> values, std::uint64_t seed, double mean, double stddev) {
  fill<draw_truncated_normal>(values, seed, mean, stddev);
}

}  // namespace gpubench
