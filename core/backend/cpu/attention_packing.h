// The rows of one head as contiguous float32, and back: where 16-bit types are widened and rounded.
#pragma once
#include <algorithm>
#include <cstdint>

#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/lanes.h"
#include "core/ops/attention.h"
#include "core/tensor/tensor_view.h"

namespace gpubench::cpu {

/// Hands out parts of float32 memory that begin at whole cache lines. Without memory it only counts.
class FloatMemory {
 public:
  explicit FloatMemory(float* base) : base_(base) {}
  float* take(std::int64_t count) {
    constexpr std::int64_t line = 16;
    const std::int64_t at = taken_;
    taken_ += (count + line - 1) / line * line;
    return base_ == nullptr ? nullptr : base_ + at;
  }
  std::int64_t taken() const { return taken_; }

 private:
  float* base_;
  std::int64_t taken_ = 0;
};

/// One of all heads of the queries: [batch, head].
struct HeadPlace {
  std::int64_t batch, head, group;

  HeadPlace(const AttentionExtents& extents, std::int64_t index)
      : batch(index / extents.heads), head(index % extents.heads), group(head / extents.heads_per_group()) {}
  /// Its group's number among all of the batch.
  std::int64_t of_groups(const AttentionExtents& extents) const { return batch * extents.groups + group; }
  /// Its first query's number in [batch, heads, queries].
  std::int64_t of_queries(const AttentionExtents& extents) const {
    return (batch * extents.heads + head) * extents.queries;
  }
};

/// The rows of one head of a tensor [batch, time, heads, dim].
template <class T>
struct HeadRows {
  T* data;
  std::int64_t stride, width;

  HeadRows(const TensorView& view, std::int64_t batch, std::int64_t head) {
    const Shape& shape = view.type->shape;
    width = shape[3];
    stride = shape[2] * width;
    data = view.as<T>() + batch * shape[1] * stride + head * width;
  }
};

/// Rows [first, first + count), times `factor`, each `padded` wide.
template <class T>
void pack_rows(const HeadRows<T>& rows, std::int64_t first, std::int64_t count, float factor, std::int64_t padded,
               float* to) {
  for (std::int64_t row = 0; row < count; ++row, to += padded) {
    const T* const from = rows.data + (first + row) * rows.stride;
#pragma omp simd
    for (std::int64_t i = 0; i < rows.width; ++i) to[i] = widen(from[i]) * factor;
    std::fill(to + rows.width, to + padded, 0.0F);
  }
}

/// Rows [first, first + count) as columns: `to` is [width, padded], zero behind the last row.
template <class T>
void pack_columns(const HeadRows<T>& rows, std::int64_t first, std::int64_t count, std::int64_t padded, float* to) {
  for (std::int64_t row = 0; row < count; ++row) {
    const T* const from = rows.data + (first + row) * rows.stride;
    for (std::int64_t i = 0; i < rows.width; ++i) to[i * padded + row] = widen(from[i]);
  }
  if (count == padded) return;
  for (std::int64_t i = 0; i < rows.width; ++i) std::fill(to + i * padded + count, to + (i + 1) * padded, 0.0F);
}

/// The dot product of row `i` with a packed row.
template <class T>
float packed_dot(const HeadRows<T>& rows, std::int64_t i, const float* packed) {
  const T* const from = rows.data + i * rows.stride;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t d = 0; d < rows.width; ++d) sum += widen(from[d]) * packed[d];
  return sum;
}

/// Row `i` = packed row times `factor`, rounded.
template <class T>
void store_row(const float* packed, float factor, const HeadRows<T>& rows, std::int64_t i) {
  T* const to = rows.data + i * rows.stride;
#pragma omp simd
  for (std::int64_t d = 0; d < rows.width; ++d) to[d] = math::narrow<T>(packed[d] * factor);
}

}  // namespace gpubench::cpu
