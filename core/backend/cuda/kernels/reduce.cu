// Neighbouring threads read neighbouring elements in each of the three kernels: columns side by side, or the lanes of a
// row.
#include <limits>

#include "core/backend/cuda/kernels/fold.cuh"
#include "core/backend/cuda/kernels/reduce.h"

namespace gpubench::cuda {
namespace {

template <class F>
__global__ void reduce_by_threads(F fold, ReduceStep step, ReduceEnds ends) {
  const std::int64_t results = step.before * step.after;
  for (std::int64_t i = first_index(); i < results; i += index_step()) {
    const std::int64_t first = i / step.after * step.extent * step.after + i % step.after;
    const auto load = [&](std::int64_t k) { return fold.load(ends, first + k * step.after, k); };
    fold.store(ends, i, fold_strided(fold, 0, step.extent, 1, load));
  }
}

// Lanes without a row stay for the exchanges, which all lanes of a warp must reach.
template <class F>
__global__ void reduce_by_lanes(F fold, ReduceStep step, ReduceEnds ends) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size, in_row = lane % step.width;
  const std::int64_t rows_a_warp = warp_size / step.width, warps = index_step() / warp_size;
  for (std::int64_t base = first_index() / warp_size * rows_a_warp; base < step.before; base += warps * rows_a_warp) {
    const std::int64_t row = base + lane / step.width;
    const bool has_row = row < step.before;
    const auto load = [&](std::int64_t k) { return fold.load(ends, row * step.extent + k, k); };
    typename F::Running total = fold_strided(fold, in_row, has_row ? step.extent : 0, step.width, load);
    for (int distance = step.width / 2; distance > 0; distance /= 2) {
      total = fold.combine(total, fold.across(total, distance));
    }
    if (has_row && in_row == 0) fold.store(ends, row, total);
  }
}

// A block's threads are `width` columns by as many rows as fit; each takes every so manieth row of its column.
template <class F>
__global__ void reduce_by_blocks(F fold, ReduceStep step, ReduceEnds ends) {
  using Running = typename F::Running;
  __shared__ Running totals[block_threads];
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / step.width, rows = block_threads / step.width;
  const std::int64_t tiles = (step.after + step.width - 1) / step.width;
  for (std::int64_t i = blockIdx.x; i < step.before * tiles * step.parts; i += gridDim.x) {
    const std::int64_t part = i % step.parts, tile = i / step.parts % tiles, outer = i / step.parts / tiles;
    const std::int64_t column = tile * step.width + thread % step.width;
    const std::int64_t end = step.extent * (part + 1) / step.parts;
    const auto load = [&](std::int64_t k) {
      return fold.load(ends, (outer * step.extent + k) * step.after + column, k);
    };
    totals[thread] =
        column < step.after ? fold_strided(fold, step.extent * part / step.parts + row, end, rows, load) : fold.start;
    for (int half = rows / 2; half > 0; half /= 2) {
      __syncthreads();
      if (row < half) totals[thread] = fold.combine(totals[thread], totals[thread + half * step.width]);
    }
    if (row == 0 && column < step.after) {
      fold.store(ends, (part * step.before + outer) * step.after + column, totals[thread]);
    }
    __syncthreads();
  }
}

template <class F>
cudaError_t launch_fold(const LaunchOn& on, const F& fold, const ReduceStep& step, const ReduceEnds& ends) {
  switch (step.by) {
    case ReduceBy::threads:
      return launch(on, blocks_for(on, step.before * step.after), block_threads, &reduce_by_threads<F>, fold, step,
                    ends);
    case ReduceBy::lanes:
      return launch(on, blocks_for(on, step.before * step.width), block_threads, &reduce_by_lanes<F>, fold, step, ends);
    default:
      const std::int64_t tiles = (step.after + step.width - 1) / step.width;
      return launch(on, blocks_for(on, step.before * tiles * step.parts, 1), block_threads, &reduce_by_blocks<F>, fold,
                    step, ends);
  }
}

template <class Combine>
cudaError_t launch_floats(const LaunchOn& on, float start, const ReduceStep& step, const ReduceEnds& ends) {
  const Fold<float, Combine> fold{{}, start};
  if (!step.packed) return launch_fold(on, fold, step, ends);
  const bool horizontal = step.after == 1;
  ReduceStep packs = step;
  (horizontal ? packs.extent : packs.after) /= pack_size;
  const std::int64_t tiles = (packs.after + packs.width - 1) / packs.width;
  return launch(on, blocks_for(on, packs.before * tiles * packs.parts, 1), block_threads,
                &reduce_by_blocks<PackFold<Combine>>,
                PackFold<Combine>{fold, {{start, start, start, start}}, horizontal}, packs, ends);
}

/// What the smallest and largest numbers of an integer type are, as the results of nothing.
std::int64_t integer_limit(Dtype type, bool smallest) {
  const std::int64_t bits = static_cast<std::int64_t>(size_of(type)) * 8;
  if (type == Dtype::u8) return smallest ? 0 : 255;
  if (bits == 64) return smallest ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  const std::int64_t power = std::int64_t{1} << (bits - 1);
  return smallest ? -power : power - 1;
}

}  // namespace

cudaError_t launch_reduce(const LaunchOn& on, Reduction reduction, const ReduceStep& step, const ReduceEnds& ends) {
  if (step.before * step.after == 0) return cudaSuccess;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
  const bool floats = is_floating(ends.in_type);
  if (reduction == Reduction::arg_max) {
    if (floats) return launch_fold(on, FoldBest<float>{{-infinity, 0}, infinity}, step, ends);
    return launch_fold(on, FoldBest<std::int64_t>{{smallest, 0}, 0}, step, ends);
  }
  if (!floats) {
    const std::int64_t start =
        reduction == Reduction::sum ? 0 : integer_limit(ends.in_type, reduction == Reduction::maximum);
    return launch_fold(on, Fold<std::int64_t, AnyOfThree>{{reduction}, start}, step, ends);
  }
  if (reduction == Reduction::sum) return launch_floats<Plus>(on, 0, step, ends);
  if (reduction == Reduction::maximum) return launch_floats<Larger>(on, -infinity, step, ends);
  return launch_floats<Smaller>(on, infinity, step, ends);
}

std::size_t running_bytes(Reduction reduction, Dtype type) {
  if (reduction == Reduction::arg_max) return sizeof(Best<std::int64_t>);
  return is_floating(type) ? sizeof(float) : sizeof(std::int64_t);
}

}  // namespace gpubench::cuda
