// A fold defines how an element is read, combined with a partial result, and written. For floats, each function has its
// own type, which keeps inner loops short; integers select the function at run time. In all three kernels neighbouring
// threads read neighbouring elements: adjacent columns, or the lanes of a row.
#include <limits>

#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/reduce.h"

namespace gpubench::cuda {
namespace {

struct AnyOfThree {
  Reduction reduction;
  __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    if (reduction == Reduction::sum) return a + b;
    return (reduction == Reduction::maximum) == (a > b) ? a : b;
  }
};

/// Elements to one number; C is float or std::int64_t.
template <class C, class Combine>
struct Fold {
  using Running = C;
  Combine join;
  C start;

  __device__ C combine(C a, C b) const { return join(a, b); }
  __device__ C across(C value, int distance) const { return __shfl_xor_sync(0xFFFFFFFFU, value, distance); }
  __device__ C load(const ReduceEnds& ends, std::int64_t at, std::int64_t) const {
    return load_as<C>(ends.in, ends.first ? ends.in_type : dtype_of<C>, at);
  }
  __device__ void store(const ReduceEnds& ends, std::int64_t at, C value) const {
    if constexpr (std::is_same_v<C, float>) value *= ends.scale;
    store_as<C>(ends.out, ends.last ? ends.out_type : dtype_of<C>, at, value);
  }
};

/// Like Fold, for four neighbours at once; with `horizontal` they are reduced to one number.
template <class Combine>
struct PackFold {
  using Running = Pack<float>;
  Fold<float, Combine> one;
  Running start;
  bool horizontal;

  __device__ Running combine(const Running& a, const Running& b) const {
    Running result;
#pragma unroll
    for (int k = 0; k < pack_size; ++k) result.values[k] = one.combine(a.values[k], b.values[k]);
    return result;
  }
  __device__ Running load(const ReduceEnds& ends, std::int64_t at, std::int64_t) const {
    return load_pack(ends.in, ends.first ? ends.in_type : Dtype::f32, at * pack_size);
  }
  __device__ void store(const ReduceEnds& ends, std::int64_t at, const Running& pack) const {
    const float* const x = pack.values;
    if (horizontal) return one.store(ends, at, one.combine(one.combine(x[0], x[1]), one.combine(x[2], x[3])));
#pragma unroll
    for (int k = 0; k < pack_size; ++k) one.store(ends, at * pack_size + k, x[k]);
  }
};

template <class C>
struct Best {
  C value;
  std::int64_t index;
};

/// The index of the first of the largest elements. NaN is skipped unless it is the first element, as when each element
/// is compared with the best so far.
template <class C>
struct FoldBest {
  using Running = Best<C>;
  Best<C> start;
  C above_all;

  __device__ static Running combine(const Running& a, const Running& b) {
    const bool first = a.value > b.value || (a.value == b.value && a.index < b.index);
    return first ? a : b;
  }
  __device__ static Running across(const Running& best, int distance) {
    return {__shfl_xor_sync(0xFFFFFFFFU, best.value, distance), __shfl_xor_sync(0xFFFFFFFFU, best.index, distance)};
  }
  __device__ Running load(const ReduceEnds& ends, std::int64_t at, std::int64_t index) const {
    if (!ends.first) return as<Running>(ends.in)[at];
    const C value = load_as<C>(ends.in, ends.in_type, at);
    if (value == value) return {value, index};
    return index == 0 ? Running{above_all, 0} : start;
  }
  __device__ static void store(const ReduceEnds& ends, std::int64_t at, const Running& best) {
    if (ends.last) {
      static_cast<std::int64_t*>(ends.out)[at] = best.index;
    } else {
      static_cast<Running*>(ends.out)[at] = best;
    }
  }
};

/// Folds items first, first + step, ... below `end`. Four are on their way at a time, and no more than `run` of their
/// sums are added before these join the total, so that sums of millions keep float's accuracy.
template <class F, class Load>
__device__ typename F::Running fold_strided(const F& fold, std::int64_t first, std::int64_t end, std::int64_t step,
                                            const Load& load) {
  using Running = typename F::Running;
  constexpr int run = 32;
  Running total = fold.start, part = fold.start;
  int sums = 0;
  for (; first + 3 * step < end; first += 4 * step) {
    const Running a = load(first), b = load(first + step), c = load(first + 2 * step), d = load(first + 3 * step);
    part = fold.combine(part, fold.combine(fold.combine(a, b), fold.combine(c, d)));
    if (++sums == run) {
      total = fold.combine(total, part);
      part = fold.start;
      sums = 0;
    }
  }
  for (; first < end; first += step) part = fold.combine(part, load(first));
  return fold.combine(total, part);
}

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
      return launch_filling<&reduce_by_threads<F>>(on, step.before * step.after, block_threads, fold, step, ends);
    case ReduceBy::lanes:
      return launch_filling<&reduce_by_lanes<F>>(on, step.before * step.width, block_threads, fold, step, ends);
    default:
      const std::int64_t tiles = (step.after + step.width - 1) / step.width;
      return launch_filling<&reduce_by_blocks<F>>(on, step.before * tiles * step.parts, 1, fold, step, ends);
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
  return launch_filling<&reduce_by_blocks<PackFold<Combine>>>(
      on, packs.before * tiles * packs.parts, 1, PackFold<Combine>{fold, {{start, start, start, start}}, horizontal},
      packs, ends);
}

/// The neutral elements of integer minima and maxima: the type's largest and smallest numbers.
std::int64_t integer_limit(Dtype type, bool smallest) {
  const std::int64_t bits = static_cast<std::int64_t>(size_of(type)) * 8;
  if (type == Dtype::u8) return smallest ? 0 : 255;
  if (bits == 64) return smallest ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  const std::int64_t power = std::int64_t{1} << (bits - 1);
  return smallest ? -power : power - 1;
}

// A thread takes a line of its own; those of neighbouring threads lie side by side.
template <class C>
__global__ void cumsum_by_threads(CumsumShape shape, void* out, const void* in) {
  for (std::int64_t i = first_index(); i < shape.before * shape.after; i += index_step()) {
    const std::int64_t first = i / shape.after * shape.extent * shape.after + i % shape.after;
    C total{};
    for (std::int64_t k = 0; k < shape.extent; ++k) {
      const std::int64_t at = first + (shape.reverse ? shape.extent - 1 - k : k) * shape.after;
      total += load_as<C>(in, shape.type, at);
      store_as<C>(out, shape.type, at, total);
    }
  }
}

// A block takes a line, as many elements at a time as it has threads: their running sums double their reach at a step.
template <class C>
__global__ void cumsum_by_blocks(CumsumShape shape, void* out, const void* in) {
  __shared__ C sums[block_threads];
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t line = blockIdx.x; line < shape.before; line += gridDim.x) {
    C before{};
    for (std::int64_t tile = 0; tile < shape.extent; tile += block_threads) {
      const std::int64_t k = tile + thread;
      const std::int64_t at = line * shape.extent + (shape.reverse ? shape.extent - 1 - k : k);
      sums[thread] = k < shape.extent ? load_as<C>(in, shape.type, at) : C{};
      for (int reach = 1; reach < block_threads; reach *= 2) {
        __syncthreads();
        const C sum = thread >= reach ? sums[thread] + sums[thread - reach] : sums[thread];
        __syncthreads();
        sums[thread] = sum;
      }
      __syncthreads();
      if (k < shape.extent) store_as<C>(out, shape.type, at, before + sums[thread]);
      before += sums[block_threads - 1];
      __syncthreads();
    }
  }
}

template <class C>
cudaError_t launch_cumsum_in(const LaunchOn& on, const CumsumShape& shape, void* out, const void* in) {
  const std::int64_t lines = shape.before * shape.after;
  if (shape.after == 1 && shape.extent > warp_size) {
    return launch_filling<&cumsum_by_blocks<C>>(on, lines, 1, shape, out, in);
  }
  return launch_filling<&cumsum_by_threads<C>>(on, lines, block_threads, shape, out, in);
}

}  // namespace

cudaError_t launch_cumsum(const LaunchOn& on, const CumsumShape& shape, void* out, const void* in) {
  if (shape.before * shape.extent * shape.after == 0) return cudaSuccess;
  return is_floating(shape.type) ? launch_cumsum_in<float>(on, shape, out, in)
                                 : launch_cumsum_in<std::int64_t>(on, shape, out, in);
}

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
  if (reduction == Reduction::sum) return launch_floats<math::Add>(on, 0, step, ends);
  if (reduction == Reduction::maximum) return launch_floats<math::Maximum>(on, -infinity, step, ends);
  return launch_floats<math::Minimum>(on, infinity, step, ends);
}

std::size_t running_bytes(Reduction reduction, Dtype type) {
  if (reduction == Reduction::arg_max) return sizeof(Best<std::int64_t>);
  return is_floating(type) ? sizeof(float) : sizeof(std::int64_t);
}

}  // namespace gpubench::cuda
