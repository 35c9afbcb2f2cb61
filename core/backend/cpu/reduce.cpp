// Sums are added in an order that depends on the shape and the number of threads alone.
#include "core/ops/reduce.h"

#include <array>
#include <limits>
#include <vector>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/widened.h"
#include "core/backend/reduce_passes.h"

namespace gpubench::cpu {
namespace {

/// Independent running results: four vector registers hide the latency of an addition.
constexpr std::int64_t lanes = 64;
/// Terms that are combined in the element's own precision before their result joins the total.
constexpr std::int64_t block = 4096;
/// Columns reduced together, and rows of them between two totals: both stay in the first-level cache.
constexpr std::int64_t tile = 256;

template <class T>
struct Plus {
  using Total = std::conditional_t<std::is_same_v<T, float>, double, T>;
  static constexpr T identity = T{0};
  template <class U>
  static U combine(U a, U b) {
    return static_cast<U>(a + b);
  }
};
/// Not a number wins in both, as in NumPy.
template <class T>
struct Larger {
  using Total = T;
  static constexpr T identity =
      std::is_same_v<T, float> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  static T combine(T a, T b) { return a > b || a != a ? a : b; }
};
template <class T>
struct Smaller {
  using Total = T;
  static constexpr T identity =
      std::is_same_v<T, float> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  static T combine(T a, T b) { return a < b || a != a ? a : b; }
};

template <class C, class T>
T reduce_block(const T* values, std::int64_t count) {
  T result = C::identity;
  std::int64_t i = 0;
  if (count >= lanes) {
    std::array<T, lanes> running;
    running.fill(C::identity);
    for (; i + lanes <= count; i += lanes) {
#pragma omp simd
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        running[static_cast<std::size_t>(lane)] = C::combine(running[static_cast<std::size_t>(lane)], values[i + lane]);
      }
    }
    for (const T lane : running) result = C::combine(result, lane);
  }
  for (; i < count; ++i) result = C::combine(result, values[i]);
  return result;
}

template <class C, class T>
typename C::Total reduce_row(const T* values, std::int64_t count) {
  typename C::Total total = C::identity;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    const T part = reduce_block<C>(values + begin, std::min(block, count - begin));
    total = C::combine(total, static_cast<typename C::Total>(part));
  }
  return total;
}

/// Reduces `rows` rows of `width` <= tile neighbouring columns; rows lie `stride` apart.
template <class C, class T>
void reduce_columns(const T* values, std::int64_t rows, std::int64_t width, std::int64_t stride, T* out, double scale) {
  std::array<typename C::Total, tile> total;
  total.fill(C::identity);
  for (std::int64_t first = 0; first < rows; first += tile) {
    std::array<T, tile> part;
    part.fill(C::identity);
    const std::int64_t last = std::min(first + tile, rows);
    for (std::int64_t row = first; row < last; ++row) {
      const T* const from = values + row * stride;
#pragma omp simd
      for (std::int64_t i = 0; i < width; ++i) {
        part[static_cast<std::size_t>(i)] = C::combine(part[static_cast<std::size_t>(i)], from[i]);
      }
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(width); ++i) {
      total[i] = C::combine(total[i], static_cast<typename C::Total>(part[i]));
    }
  }
  for (std::int64_t i = 0; i < width; ++i) {
    const auto result = total[static_cast<std::size_t>(i)];
    out[i] = scale == 1 ? static_cast<T>(result) : static_cast<T>(static_cast<double>(result) * scale);
  }
}

/// One pass of a reduction, with its share of the device's threads.
template <class C, class T>
class PassLoop {
 public:
  PassLoop(const ReducePass& pass, double scale) : pass_(pass), scale_(scale) {
    const std::int64_t bytes = pass.before * pass.extent * pass.after * static_cast<std::int64_t>(sizeof(T));
    tiles_ = (pass.after + tile - 1) / tile;
    threads_ = threads_for_stream(pass.before * tiles_, bytes);
    if (pass.before == 1 && pass.after == 1)
      partial_.resize(static_cast<std::size_t>(threads_for_stream(pass.extent, bytes)));
  }

  void operator()(const T* from, T* to) {
    if (partial_.size() > 1) {
      *to = finish(reduce_everything(from));
    } else if (pass_.after == 1) {
      parallel_ranges(threads_, pass_.before, [&](int, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) to[i] = finish(reduce_row<C>(from + i * pass_.extent, pass_.extent));
      });
    } else {
      parallel_ranges(threads_, pass_.before * tiles_, [&](int, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t outer = i / tiles_, column = i % tiles_ * tile;
          reduce_columns<C>(from + outer * pass_.extent * pass_.after + column, pass_.extent,
                            std::min(tile, pass_.after - column), pass_.after, to + outer * pass_.after + column,
                            scale_);
        }
      });
    }
  }

 private:
  typename C::Total reduce_everything(const T* from) {
    const auto parts = static_cast<std::int64_t>(partial_.size());
    parallel_ranges(static_cast<int>(parts), parts, [&](int, std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p) {
        const std::int64_t begin = pass_.extent * p / parts, end = pass_.extent * (p + 1) / parts;
        partial_[static_cast<std::size_t>(p)] = reduce_row<C>(from + begin, end - begin);
      }
    });
    typename C::Total total = C::identity;
    for (const auto part : partial_) total = C::combine(total, part);
    return total;
  }

  T finish(typename C::Total total) const {
    return scale_ == 1 ? static_cast<T>(total) : static_cast<T>(static_cast<double>(total) * scale_);
  }

  ReducePass pass_;
  double scale_;
  std::int64_t tiles_ = 1;
  int threads_ = 1;
  std::vector<typename C::Total> partial_;  // one per thread when everything becomes one number
};

/// Runs the passes; results of all but the last lie in the workspace, one behind the other.
template <class C, class T>
class ReductionLoops {
 public:
  ReductionLoops(const std::vector<ReducePass>& passes, double scale) {
    for (std::size_t i = 0; i < passes.size(); ++i) loops_.emplace_back(passes[i], i + 1 == passes.size() ? scale : 1);
    for (const ReducePass& pass : passes) sizes_.push_back(pass.before * pass.after);
    sizes_.pop_back();
  }

  std::size_t workspace_bytes() const {
    std::int64_t elements = 0;
    for (const std::int64_t size : sizes_) elements += size;
    return static_cast<std::size_t>(elements) * sizeof(T);
  }

  void operator()(Views inputs, Views outputs, std::span<std::byte> workspace) {
    const T* from = inputs[0].as<T>();
    T* between = reinterpret_cast<T*>(workspace.data());
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      loops_[i](from, between);
      from = between;
      between += sizes_[i];
    }
    loops_.back()(from, outputs[0].as<T>());
  }

 private:
  std::vector<PassLoop<C, T>> loops_;
  std::vector<std::int64_t> sizes_;  // elements after each pass but the last
};

template <template <class> class C, class List>
std::unique_ptr<Kernel> plan_reduction(const ReductionOp& op, const Signature& signature, List list, double scale = 1) {
  const TensorType& input = signature.inputs[0];
  const std::vector<ReducePass> passes = reduce_passes(input.shape, op.reduced(input));
  return dispatch(list, op.name(), input.dtype, [&]<class T>() {
    ReductionLoops<C<T>, T> reduction(passes, scale);
    const std::size_t workspace_bytes = reduction.workspace_bytes();
    return loop_kernel(std::move(reduction), workspace_bytes);
  });
}

template <class T>
class ArgMaxLoop {
 public:
  explicit ArgMaxLoop(const ReducePass& pass)
      : pass_(pass), rows_(pass.before * pass.after), threads_(threads_for(rows_, rows_ * pass.extent)) {}

  void operator()(Views inputs, Views outputs) const {
    const T* const from = inputs[0].as<T>();
    auto* const to = outputs[0].as<std::int64_t>();
    parallel_ranges(threads_, rows_, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const T* const values = from + row / pass_.after * pass_.extent * pass_.after + row % pass_.after;
        std::int64_t best = 0;
        for (std::int64_t i = 1; i < pass_.extent; ++i) {
          if (values[i * pass_.after] > values[best * pass_.after]) best = i;
        }
        to[row] = best;
      }
    });
  }

 private:
  ReducePass pass_;
  std::int64_t rows_;
  int threads_;
};

/// Totals of neighbouring columns go down the rows together.
template <class T>
class CumsumLoop {
 public:
  CumsumLoop(const ReducePass& pass, bool reverse)
      : pass_(pass),
        reverse_(reverse),
        tiles_((pass.after + tile - 1) / tile),
        threads_(threads_for_stream(
            pass.before * tiles_, 2 * pass.before * pass.extent * pass.after * static_cast<std::int64_t>(sizeof(T)))) {}

  void operator()(Views inputs, Views outputs) const {
    const T* const from = inputs[0].as<T>();
    T* const to = outputs[0].as<T>();
    parallel_ranges(threads_, pass_.before * tiles_, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t column = i % tiles_ * tile, width = std::min(tile, pass_.after - column);
        std::array<typename Plus<T>::Total, tile> totals{};
        for (std::int64_t k = 0; k < pass_.extent; ++k) {
          const std::int64_t row = i / tiles_ * pass_.extent + (reverse_ ? pass_.extent - 1 - k : k);
          const std::int64_t at = row * pass_.after + column;
          for (std::int64_t c = 0; c < width; ++c) {
            auto& total = totals[static_cast<std::size_t>(c)];
            total += static_cast<typename Plus<T>::Total>(from[at + c]);
            to[at + c] = static_cast<T>(total);
          }
        }
      }
    });
  }

 private:
  ReducePass pass_;
  bool reverse_;
  std::int64_t tiles_;
  int threads_;
};

using Summed = Types<float, std::int64_t, std::int32_t>;  // smaller integers would overflow at once

std::unique_ptr<Kernel> plan_reduce_sum(const ReduceSum& op, const Signature& signature, Device&) {
  return plan_reduction<Plus>(op, signature, Summed{});
}

std::unique_ptr<Kernel> plan_reduce_mean(const ReduceMean& op, const Signature& signature, Device&) {
  const auto inputs = static_cast<double>(signature.inputs[0].elements());
  const auto outputs = static_cast<double>(signature.outputs[0].elements());
  return plan_reduction<Plus>(op, signature, Types<float>{}, outputs / inputs);
}

std::unique_ptr<Kernel> plan_reduce_max(const ReduceMax& op, const Signature& signature, Device&) {
  return plan_reduction<Larger>(op, signature, Numbers{});
}

std::unique_ptr<Kernel> plan_reduce_min(const ReduceMin& op, const Signature& signature, Device&) {
  return plan_reduction<Smaller>(op, signature, Numbers{});
}

std::unique_ptr<Kernel> plan_arg_max(const ArgMax& op, const Signature& signature, Device&) {
  const TensorType& input = signature.inputs[0];
  const ReducePass pass = axis_pass(input.shape, op.axis);
  return dispatch(Numbers{}, op.name(), input.dtype, [&]<class T>() { return loop_kernel(ArgMaxLoop<T>(pass)); });
}

std::unique_ptr<Kernel> plan_cumsum(const Cumsum& op, const Signature& signature, Device&) {
  const TensorType& input = signature.inputs[0];
  return dispatch(Summed{}, op.name(), input.dtype,
                  [&]<class T>() { return loop_kernel(CumsumLoop<T>(axis_pass(input.shape, op.axis), op.reverse)); });
}

}  // namespace

void add_reduce(KernelTable& table) {
  add_float32_row<&plan_reduce_sum>(table);
  add_float32_row<&plan_reduce_mean>(table);
  add_float32_row<&plan_reduce_max>(table);
  add_float32_row<&plan_reduce_min>(table);
  add_float32_row<&plan_arg_max>(table);
  add_float32_row<&plan_cumsum>(table);
}

}  // namespace gpubench::cpu
