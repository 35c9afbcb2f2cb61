// What a metric's values and their mean are made of.
#pragma once
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/metric.h"
#include "core/backend/cuda/kernels/rows.cuh"
#include "core/math/elementary.h"

namespace gpubench::cuda {

/// Number of a row's predictions that rank above that of its label. Equal ones do if they come before it, NaN always
/// does. All of them if the label's own is NaN; -1 if there is no such label.
struct LabelRank {
  const float* predictions;
  const void* labels;
  Dtype label_type;
  bool one_hot;

  template <class By>
  __device__ std::int64_t operator()(By by, const Row& row) const {
    const std::int64_t label = one_hot ? hot_column(by, row) : load_as<std::int64_t>(labels, label_type, row.index);
    const bool wrong = label < 0 || label >= row.columns;
    const float own = wrong ? 0.0F : predictions[row.begin + label];
    std::int64_t larger = 0;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      const float other = predictions[row.begin + i];
      const bool behind = i == label || (i < label ? other < own : other <= own);
      if (!behind) ++larger;
    }
    larger = by.reduce(row, larger, math::Add{});
    return wrong ? -1 : own == own ? larger : row.columns;
  }

  /// The first of a row's largest labels.
  template <class By>
  __device__ std::int64_t hot_column(By by, const Row& row) const {
    const float* const values = static_cast<const float*>(labels) + row.begin;
    float largest = math::from_bits(static_cast<std::int32_t>(0xFF800000U));  // -infinity
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) largest = Largest{}(largest, values[i]);
    largest = by.reduce(row, largest, Largest{});
    std::int64_t first = row.columns;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      if (values[i] == largest) first = Smallest{}(first, i);
    }
    return by.reduce(row, first, Smallest{});
  }
};

/// 1 if a label of this rank is among the k largest predictions, else 0; NaN if there is no such label.
__device__ inline float is_within(std::int64_t k, std::int64_t rank) {
  if (rank < 0) return not_a_number();
  return rank < k ? 1.0F : 0.0F;
}

/// state += (sum, count) of the values, or = if nothing is added. All threads of the block call it, which are at least
/// block_threads; so many sum, however large the block is, so that the result does not depend on that.
__device__ inline void accumulate(float* state, const float* values, std::int64_t count, bool adds) {
  double sum = 0;
  if (threadIdx.x < block_threads) {
    for (std::int64_t i = threadIdx.x; i < count; i += block_threads) sum += static_cast<double>(values[i]);
  }
  const double total = ByBlock::reduce(Row{}, sum, math::Add{});
  if (threadIdx.x == 0) {
    state[0] = static_cast<float>((adds ? static_cast<double>(state[0]) : 0) + total);
    state[1] = (adds ? state[1] : 0) + static_cast<float>(count);
  }
}

}  // namespace gpubench::cuda
