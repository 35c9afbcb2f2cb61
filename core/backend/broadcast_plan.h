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
BroadcastPlan<N> plan_broadcast(std::string_view op, std::span<const TensorType> inputs, const Shape& output) {
  std::array<Strides, N> strides;
  for (std::size_t i = 0; i < N; ++i) strides[i] = stretched_strides(inputs[i].shape, output);
  return plan_strided<N>(op, output, std::move(strides));
}

/// The offset at which each input's row begins; advances row by row.
template <std::size_t N>
class RowCursor {
 public:
  RowCursor(const BroadcastPlan<N>& plan, std::int64_t row) : plan_(plan) {
    for (std::size_t d = plan.outer.size(); d-- > 0;) {
      places_[d] = row % plan.outer[d];
      row /= plan.outer[d];
      for (std::size_t i = 0; i < N; ++i) offsets_[i] += places_[d] * plan.outer_strides[i][d];
    }
  }

  std::int64_t offset(std::size_t input) const { return offsets_[input]; }

  void next() {
    for (std::size_t d = plan_.outer.size(); d-- > 0;) {
      for (std::size_t i = 0; i < N; ++i) offsets_[i] += plan_.outer_strides[i][d];
      if (++places_[d] < plan_.outer[d]) return;
      for (std::size_t i = 0; i < N; ++i) offsets_[i] -= plan_.outer[d] * plan_.outer_strides[i][d];
      places_[d] = 0;
    }
  }

 private:
  const BroadcastPlan<N>& plan_;
  std::array<std::int64_t, max_merged_rank> places_{};
  std::array<std::int64_t, N> offsets_{};
};

}  // namespace gpubench
