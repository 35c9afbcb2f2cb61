// Indices are checked before anything is written.
#include "core/ops/indexing.h"

#include <cstring>
#include <fmt/format.h>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/widened.h"
#include "core/base/error.h"

namespace gpubench::cpu {
namespace {

template <class Index>
bool is_outside(Index index, std::int64_t limit) {
  return static_cast<std::int64_t>(index) < 0 || static_cast<std::int64_t>(index) >= limit;
}

template <class Index>
void check_indices(std::string_view op, std::span<const Index> indices, std::int64_t limit) {
  for (const Index index : indices) {
    if (!is_outside(index, limit)) continue;
    throw Error(fmt::format("{}: index {} is outside 0 to {}", op, static_cast<std::int64_t>(index), limit - 1));
  }
}

template <class Index>
void check_tokens(std::span<const Index> tokens, std::int64_t vocabulary) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is_outside(tokens[i], vocabulary)) continue;
    throw Error(fmt::format("embedding: token {} (number {} of the batch) is outside the vocabulary of {}, 0 to {}",
                            static_cast<std::int64_t>(tokens[i]), i + 1, vocabulary, vocabulary - 1));
  }
}

template <class Index>
std::span<const Index> indices_of(const TensorView& view) {
  return {view.as<Index>(), static_cast<std::size_t>(view.elements())};
}

/// Elements of one row of a tensor whose first `leading` dimensions number the rows.
std::int64_t row_elements(const Shape& shape, std::size_t leading) {
  return element_count(std::span(shape).subspan(leading));
}

template <class T, class Index>
class OneHotLoop {
 public:
  OneHotLoop(std::int64_t depth, const Signature& signature) : depth_(depth), bytes_(signature.outputs[0].bytes()) {}

  void operator()(Views inputs, Views outputs) const {
    const std::span<const Index> indices = indices_of<Index>(inputs[0]);
    check_indices("one_hot", indices, depth_);
    std::memset(outputs[0].data, 0, bytes_);
    T* row = outputs[0].as<T>();
    for (const Index index : indices) {
      row[index] = T{1};
      row += depth_;
    }
  }

 private:
  std::int64_t depth_;
  std::size_t bytes_;
};

template <class Index>
class GatherLoop {
 public:
  GatherLoop(Gather::Of of, const Signature& signature)
      : of_(of),
        rows_(signature.inputs[0].shape[0]),
        row_bytes_(static_cast<std::size_t>(row_elements(signature.inputs[0].shape, 1)) *
                   size_of(signature.inputs[0].dtype)),
        threads_(threads_for_stream(signature.inputs[1].elements(),
                                    static_cast<std::int64_t>(2 * signature.outputs[0].bytes()))) {}

  void operator()(Views inputs, Views outputs) const {
    const std::span<const Index> indices = indices_of<Index>(inputs[1]);
    of_ == Gather::Of::tokens ? check_tokens(indices, rows_) : check_indices("gather", indices, rows_);
    parallel_ranges(threads_, static_cast<std::int64_t>(indices.size()),
                    [&](int, std::int64_t begin, std::int64_t end) {
                      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
                        const auto row = static_cast<std::size_t>(indices[i]);
                        std::memcpy(outputs[0].data + i * row_bytes_, inputs[0].data + row * row_bytes_, row_bytes_);
                      }
                    });
  }

 private:
  Gather::Of of_;
  std::int64_t rows_;
  std::size_t row_bytes_;
  int threads_;
};

/// Threads share the columns, so that rows used twice are summed in one order.
template <class Index>
class GatherGradientLoop {
 public:
  GatherGradientLoop(std::int64_t rows, const Signature& signature)
      : rows_(rows),
        width_(row_elements(signature.outputs[0].shape, 1)),
        threads_(threads_for_stream(width_ / columns_per_thread,
                                    static_cast<std::int64_t>(3 * signature.inputs[0].bytes()))) {}

  void operator()(Views inputs, Views outputs) const {
    const std::span<const Index> indices = indices_of<Index>(inputs[1]);
    check_indices("gather_gradient", indices, rows_);
    const float* const dy = inputs[0].as<float>();
    float* const dx = outputs[0].as<float>();
    parallel_ranges(threads_, width_, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = 0; row < rows_; ++row)
        std::fill(dx + row * width_ + begin, dx + row * width_ + end, 0.0F);
      for (std::size_t i = 0; i < indices.size(); ++i) {
        const float* const from = dy + static_cast<std::int64_t>(i) * width_;
        float* const to = dx + static_cast<std::int64_t>(indices[i]) * width_;
#pragma omp simd
        for (std::int64_t column = begin; column < end; ++column) to[column] += from[column];
      }
    });
  }

 private:
  static constexpr std::int64_t columns_per_thread = 16;  // a cache line of float32
  std::int64_t rows_, width_;
  int threads_;
};

template <class Index>
class FlatIndexLoop {
 public:
  explicit FlatIndexLoop(const FlatIndex& op) : of_(op.of), extents_(op.extents), first_(op.first) {}

  void operator()(Views inputs, Views outputs) const {
    const Index* from = inputs[0].as<Index>();
    auto* const flat = outputs[0].as<std::int64_t>();
    for (std::int64_t i = 0; i < outputs[0].elements(); ++i) {
      flat[i] = 0;
      for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
        const auto at = static_cast<std::int64_t>(*from++);
        if (is_outside(at, extents_[axis])) refuse_place(at, axis);
        flat[i] = flat[i] * extents_[axis] + at;
      }
    }
  }

 private:
  [[noreturn]] void refuse_place(std::int64_t at, std::size_t axis) const {
    throw Error(fmt::format("{}: index {} of axis {} is outside 0 to {}", of_, at, first_ + static_cast<int>(axis),
                            extents_[axis] - 1));
  }

  std::string of_;
  Shape extents_;
  int first_;
};

/// Threads share the bytes of rows, so that the last of several updates of a row stays.
template <class Index>
class ScatterUpdateLoop {
 public:
  explicit ScatterUpdateLoop(const Signature& signature)
      : rows_(signature.inputs[0].shape[0]),
        bytes_(signature.inputs[0].bytes()),
        row_bytes_(row_elements(signature.inputs[0].shape, 1) *
                   static_cast<std::int64_t>(size_of(signature.inputs[0].dtype))),
        threads_(
            threads_for_stream(row_bytes_ / cache_line, static_cast<std::int64_t>(2 * signature.inputs[2].bytes()))) {}

  void operator()(Views inputs, Views outputs) const {
    const std::span<const Index> indices = indices_of<Index>(inputs[1]);
    check_indices("scatter_update", indices, rows_);
    if (bytes_ == 0) return;
    if (outputs[0].data != inputs[0].data) std::memcpy(outputs[0].data, inputs[0].data, bytes_);
    parallel_ranges(threads_, row_bytes_, [&](int, std::int64_t begin, std::int64_t end) {
      const std::byte* from = inputs[2].data + begin;
      for (const Index index : indices) {
        std::byte* const to = outputs[0].data + static_cast<std::int64_t>(index) * row_bytes_ + begin;
        std::memcpy(to, from, static_cast<std::size_t>(end - begin));
        from += row_bytes_;
      }
    });
  }

 private:
  static constexpr std::int64_t cache_line = 64;
  std::int64_t rows_;
  std::size_t bytes_;
  std::int64_t row_bytes_;
  int threads_;
};

std::unique_ptr<Kernel> plan_one_hot(const OneHot& op, const Signature& signature, Device&) {
  return dispatch(Integers{}, op.name(), signature.inputs[0].dtype, [&]<class Index>() {
    return dispatch(NumbersAndBool{}, op.name(), op.dtype,
                    [&]<class T>() { return loop_kernel(OneHotLoop<T, Index>(op.depth, signature)); });
  });
}

std::unique_ptr<Kernel> plan_gather(const Gather& op, const Signature& signature, Device&) {
  return dispatch(Integers{}, op.name(), signature.inputs[1].dtype,
                  [&]<class Index>() { return loop_kernel(GatherLoop<Index>(op.of, signature)); });
}

std::unique_ptr<Kernel> plan_gather_gradient(const GatherGradient& op, const Signature& signature, Device&) {
  if (signature.inputs[0].dtype != Dtype::f32) refuse_dtype(op.name(), signature.inputs[0].dtype);
  return dispatch(Integers{}, op.name(), signature.inputs[1].dtype,
                  [&]<class Index>() { return loop_kernel(GatherGradientLoop<Index>(op.rows, signature)); });
}

std::unique_ptr<Kernel> plan_flat_index(const FlatIndex& op, const Signature& signature, Device&) {
  return dispatch(Integers{}, op.name(), signature.inputs[0].dtype,
                  [&]<class Index>() { return loop_kernel(FlatIndexLoop<Index>(op)); });
}

std::unique_ptr<Kernel> plan_scatter_update(const ScatterUpdate& op, const Signature& signature, Device&) {
  return dispatch(Integers{}, op.name(), signature.inputs[1].dtype,
                  [&]<class Index>() { return loop_kernel(ScatterUpdateLoop<Index>(signature)); });
}

}  // namespace

void add_indexing(KernelTable& table) {
  add_row<&plan_flat_index>(table);
  add_row<&plan_one_hot>(table);
  add_row<&plan_gather>(table);
  add_row<&plan_scatter_update>(table);
  add_float32_row<&plan_gather_gradient>(table);
}

}  // namespace gpubench::cpu
