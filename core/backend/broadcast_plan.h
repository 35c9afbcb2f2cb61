// Iteration over strided memory, and over N inputs that are broadcast to one output, which is written front to back.
// Dimensions are merged when a kernel is planned: inputs of equal shape and scalars become one flat loop, a row added
// to a matrix becomes one loop per row.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/tensor/tensor_type.h"

namespace gpubench {

/// Limit on the dimensions left after merging. It gives the cursor a fixed size, so that a run allocates nothing.
inline constexpr std::size_t max_merged_rank = 8;

using Strides = std::vector<std::int64_t>;

/// Strided memory: the offset of the first element, and the stride of each dimension, in elements.
struct Walk {
  std::int64_t start = 0;
  Strides strides;
};
Walk row_major(const Shape& shape);
/// Dimension i of the walk is dimension order[i] of a row-major tensor.
Walk transposed(const Shape& shape, std::span<const std::int64_t> order);
/// Backwards in the dimensions that `flags` marks.
Walk reversed(const Shape& shape, const std::vector<bool>& flags);
/// Every stride[i]-th element from begin[i] on, in each dimension.
Walk sliced(const Shape& shape, const Shape& begin, const Shape& stride);

/// Row-major strides of `from`, in elements, for the dimensions of `to`; 0 where `from` is broadcast.
Strides stretched_strides(const Shape& from, const Shape& to);
/// Merges neighbouring dimensions that are contiguous in every input, and drops those of extent 1. Throws Error when
/// more than max_merged_rank are left.
void merge_dimensions(std::string_view op, Shape& shape, std::span<Strides> strides);

/// An innermost loop of `inner` elements, `rows` times.
template <std::size_t N>
struct BroadcastPlan {
  std::int64_t inner = 1;
  std::int64_t rows = 1;
  std::array<std::int64_t, N> inner_strides{};
  Shape outer;  ///< the dimensions around the innermost loop
  std::array<Strides, N> outer_strides;
};

/// A plan for inputs with these strides in the dimensions of `shape`.
template <std::size_t N>
BroadcastPlan<N> plan_strided(std::string_view op, Shape shape, std::array<Strides, N> strides) {
  BroadcastPlan<N> plan;
  merge_dimensions(op, shape, strides);
  if (!shape.empty()) {
    plan.inner = shape.back();
    shape.pop_back();
    for (std::size_t i = 0; i < N; ++i) {
      plan.inner_strides[i] = strides[i].back();
      strides[i].pop_back();
    }
  }
  plan.rows = element_count(shape);
  plan.outer = std::move(shape);
  plan.outer_strides = std::move(strides);
  return plan;
}

template <std::size_t N>
BroadcastPlan<N> plan_broadcast(std::string_view op, TensorTypes inputs, const Shape& output) {
  std::array<Strides, N> strides;
  for (std::size_t i = 0; i < N; ++i) strides[i] = stretched_strides(inputs[i].shape, output);
  return plan_strided<N>(op, output, std::move(strides));
}

/// The offset at which each input's row begins; advances by a row, or by a run of rows that lie in one dimension. It
/// holds a copy of what it needs of the plan, so that the compiler can keep it in registers beside calls of unknown
/// functions.
template <std::size_t N>
class RowCursor {
 public:
  RowCursor(const BroadcastPlan<N>& plan, std::int64_t row) : rank_(plan.outer.size()) {
    for (std::size_t d = rank_; d-- > 0;) {
      Dimension& dimension = dimensions_[d];
      dimension.extent = plan.outer[d];
      dimension.place = row % plan.outer[d];
      row /= plan.outer[d];
      for (std::size_t i = 0; i < N; ++i) {
        dimension.strides[i] = plan.outer_strides[i][d];
        offsets_[i] += dimension.place * dimension.strides[i];
      }
    }
  }

  std::int64_t offset(std::size_t input) const { return offsets_[input]; }
  /// Rows from here on that lie `step` elements apart in each input.
  std::int64_t run() const { return rank_ == 0 ? 1 : dimensions_[rank_ - 1].extent - dimensions_[rank_ - 1].place; }
  std::int64_t step(std::size_t input) const { return rank_ == 0 ? 0 : dimensions_[rank_ - 1].strides[input]; }

  /// `rows`: at most run().
  void advance(std::int64_t rows = 1) {
    for (std::size_t d = rank_; d-- > 0; rows = 1) {
      Dimension& dimension = dimensions_[d];
      for (std::size_t i = 0; i < N; ++i) offsets_[i] += rows * dimension.strides[i];
      if ((dimension.place += rows) < dimension.extent) return;
      for (std::size_t i = 0; i < N; ++i) offsets_[i] -= dimension.extent * dimension.strides[i];
      dimension.place = 0;
    }
  }

 private:
  struct Dimension {
    std::int64_t extent, place;
    std::array<std::int64_t, N> strides;
  };
  std::size_t rank_;
  std::array<Dimension, max_merged_rank> dimensions_;  ///< the first rank_ of them
  std::array<std::int64_t, N> offsets_{};
};

}  // namespace gpubench
