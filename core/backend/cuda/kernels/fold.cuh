// What reductions fold: how an element is read, joined with a running result, and written. Floats have a type for each
// function, which keeps their inner loops short; integers look the function up.
#pragma once
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/reduce.h"

namespace gpubench::cuda {

struct Plus {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a + b;
  }
};
/// Not a number wins in both, as in NumPy.
struct Larger {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a > b || a != a ? a : b;
  }
};
struct Smaller {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a < b || a != a ? a : b;
  }
};
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

/// As Fold, four neighbours at once; they become one number where `horizontal`.
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

/// Elements to the index of the first of the largest. What is not a number is passed over, unless it is the first, as
/// when each element is compared with the best so far.
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

}  // namespace gpubench::cuda
