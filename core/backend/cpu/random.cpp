#include "core/ops/random.h"

#include <algorithm>
#include <array>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/random_words.h"
#include "core/backend/cpu/widened.h"

namespace gpubench::cpu {
namespace {

using math::philox_block;
using math::philox_lanes;

/// Measured: a nanosecond per element, the time of a hundred operations of vectorized loops.
constexpr std::int64_t flops_per_element = 100;

/// Functions that use two words per element take the second from counters that no first word comes from.
constexpr std::uint64_t second_words = std::uint64_t{1} << 63;

/// x where its word reaches the threshold, scaled, else 0. The output may be x.
struct DropMask {
  static constexpr int words = 1;
  std::uint32_t threshold;
  float scale;

  void operator()(std::int64_t count, const std::array<const std::uint32_t*, words>& random, const float* x,
                  float* y) const {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) {
      const float kept = x[i] * scale;  // read in any case: a load under a condition does not vectorize
      y[i] = random[0][i] >= threshold ? kept : 0.0F;
    }
  }
};

struct UniformWords {
  static constexpr int words = 1;
  float low, range;

  void operator()(std::int64_t count, const std::array<const std::uint32_t*, words>& random, const float*,
                  float* y) const {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) y[i] = low + range * math::to_uniform(random[0][i]);
  }
};

struct NormalWords {
  static constexpr int words = 2;
  float mean, stddev;

  void operator()(std::int64_t count, const std::array<const std::uint32_t*, words>& random, const float*,
                  float* y) const {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) {
      y[i] = mean + stddev * math::to_normal(random[0][i], random[1][i]);
    }
  }
};

/// Applies F to blocks of elements and their random words, in each part of its own step; blocks are shared among
/// threads. A part's elements are numbered from `first`, where a block may have begun before them.
template <class F>
class RandomLoop {
 public:
  /// The steps are the last input; a tensor may stand before it.
  RandomLoop(const Signature& signature, std::uint64_t seed, F f, std::int64_t first = 0)
      : f_(f),
        seed_(seed),
        first_block_(first / philox_block),
        before_(first % philox_block),
        parts_(signature.inputs.back().elements()),
        elements_(signature.outputs[0].elements() / std::max<std::int64_t>(parts_, 1)),
        blocks_((before_ + elements_ + philox_block - 1) / philox_block),
        threads_(threads_for_stream(parts_ * blocks_, 0, parts_ * elements_ * flops_per_element * F::words)) {}

  void operator()(Views inputs, Views outputs) const {
    const auto* const steps = inputs.back().as<std::int64_t>();
    float* const out = outputs[0].as<float>();
    const float* const in = inputs.size() > 1 ? inputs[0].as<float>() : out;
    parallel_ranges(threads_, parts_ * blocks_, [&](int, std::int64_t first, std::int64_t last) {
      std::array<WordBlock, F::words> random;
      for (std::int64_t b = first; b < last; ++b) {
        const std::int64_t part = b / blocks_, block = b % blocks_, skipped = block == 0 ? before_ : 0;
        const std::int64_t begin = block * philox_block + skipped - before_, at = part * elements_ + begin;
        const auto step = static_cast<std::uint64_t>(steps[part]);
        const auto counter = static_cast<std::uint64_t>((first_block_ + block) * philox_lanes);
        std::array<const std::uint32_t*, F::words> words;
        for (std::size_t w = 0; w < random.size(); ++w) {
          fill_words(random[w], seed_, step, counter | w * second_words);
          words[w] = random[w].words + skipped;
        }
        f_(std::min(philox_block - skipped, elements_ - begin), words, in + at, out + at);
      }
    });
  }

 private:
  F f_;
  std::uint64_t seed_;
  std::int64_t first_block_, before_;       // elements of the first block that are before the first
  std::int64_t parts_, elements_, blocks_;  // parts, and what each of them has
  int threads_;
};

/// Dropout and its gradient.
template <class Drop>
std::unique_ptr<Kernel> plan_dropout(const Drop& op, const Signature& signature, Device&) {
  if (signature.inputs[0].dtype != Dtype::f32) refuse_dtype(op.name(), signature.inputs[0].dtype);
  const DropMask mask{static_cast<std::uint32_t>(op.rate * 0x1p32), static_cast<float>(1 / (1 - op.rate))};
  return loop_kernel(RandomLoop<DropMask>(signature, op.seed, mask, op.first));
}

std::unique_ptr<Kernel> plan_random_uniform(const RandomUniform& op, const Signature& signature, Device&) {
  const UniformWords uniform{static_cast<float>(op.low), static_cast<float>(op.high - op.low)};
  return loop_kernel(RandomLoop<UniformWords>(signature, op.seed, uniform));
}

std::unique_ptr<Kernel> plan_random_normal(const RandomNormal& op, const Signature& signature, Device&) {
  const NormalWords normal{static_cast<float>(op.mean), static_cast<float>(op.stddev)};
  return loop_kernel(RandomLoop<NormalWords>(signature, op.seed, normal));
}

}  // namespace

void add_random(KernelTable& table) {
  add_float32_row<&plan_dropout<Dropout>>(table);
  add_float32_row<&plan_dropout<DropoutGradient>>(table);
  add_float32_row<&plan_random_uniform>(table);
  add_float32_row<&plan_random_normal>(table);
}

}  // namespace gpubench::cpu
