// A thread makes the four words of one counter, for elements sixteen apart: no word is made twice or left over, and
// sixteen neighbouring threads write sixteen neighbours.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/random.h"
#include "core/math/philox.h"

namespace gpubench::cuda {
namespace {

/// Functions that use two words per element take the second from counters that no first word comes from.
constexpr std::uint64_t second_words = std::uint64_t{1} << 63;

struct Mask {
  static constexpr bool two_words = false;
  std::uint32_t threshold;
  float scale;
  Dtype type;
  const void* x;
  void* y;

  __device__ void operator()(std::int64_t i, std::uint32_t word, std::uint32_t) const {
    const float kept = load_as<float>(x, type, i) * scale;
    store_as<float>(y, type, i, word >= threshold ? kept : 0.0F);
  }
};

struct Uniform {
  static constexpr bool two_words = false;
  float low, range;
  float* out;

  __device__ void operator()(std::int64_t i, std::uint32_t word, std::uint32_t) const {
    out[i] = low + range * math::to_uniform(word);
  }
};

struct Normal {
  static constexpr bool two_words = true;
  float mean, stddev;
  float* out;

  __device__ void operator()(std::int64_t i, std::uint32_t first, std::uint32_t second) const {
    out[i] = mean + stddev * math::to_normal(first, second);
  }
};

template <class F>
__global__ void random_kernel(Draw draw, F f) {
  constexpr std::int64_t lanes = math::philox_lanes, block = math::philox_block;
  const std::int64_t first_counter = draw.first / block * lanes, before = draw.first % block;
  const std::int64_t counters = (before + draw.elements + block - 1) / block * lanes;
  for (std::int64_t at = first_index(); at < draw.parts * counters; at += index_step()) {
    const std::int64_t part = draw.parts == 1 ? 0 : at / counters, c = at - part * counters;  // a division is slow
    const auto step = static_cast<std::uint64_t>(draw.steps[part]);
    const math::PhiloxWords first = math::philox(draw.seed, step, static_cast<std::uint64_t>(first_counter + c));
    math::PhiloxWords second{};
    if constexpr (F::two_words)
      second = math::philox(draw.seed, step, static_cast<std::uint64_t>(first_counter + c) | second_words);
    const std::int64_t begin = c / lanes * block + c % lanes - before;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const std::int64_t i = begin + w * lanes;
      if (i >= 0 && i < draw.elements) f(part * draw.elements + i, first.word[w], second.word[w]);
    }
  }
}

template <class F>
cudaError_t launch_random(const LaunchOn& on, const Draw& draw, const F& f) {
  if (draw.parts * draw.elements == 0) return cudaSuccess;
  return launch_filling<&random_kernel<F>>(on, draw.parts * (draw.elements + draw.first % math::philox_block),
                                           block_threads * 4, draw, f);
}

}  // namespace

cudaError_t launch_dropout(const LaunchOn& on, const Draw& draw, std::uint32_t threshold, float scale, Dtype type,
                           const void* x, void* y) {
  return launch_random(on, draw, Mask{threshold, scale, type, x, y});
}

cudaError_t launch_random_uniform(const LaunchOn& on, const Draw& draw, float low, float range, float* out) {
  return launch_random(on, draw, Uniform{low, range, out});
}

cudaError_t launch_random_normal(const LaunchOn& on, const Draw& draw, float mean, float stddev, float* out) {
  return launch_random(on, draw, Normal{mean, stddev, out});
}

}  // namespace gpubench::cuda
