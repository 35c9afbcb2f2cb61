#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/metric.h"
#include "core/backend/cuda/kernels/rows.cuh"
#include "core/math/elementary.h"

namespace gpubench::cuda {
namespace {

struct Largest {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b > a ? b : a;
  }
};
struct Smallest {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// The label is among the k largest if fewer than k predictions rank above its own. Equal ones do if they come before
/// it, NaN always does.
struct TopKMatches {
  std::int64_t k;
  const float* predictions;
  const void* labels;
  Dtype label_type;
  bool one_hot;
  float* matches;

  template <class By>
  __device__ void operator()(By by, const Row& row) const {
    const std::int64_t label = one_hot ? hot_column(by, row) : load_as<std::int64_t>(labels, label_type, row.index);
    const bool wrong = label < 0 || label >= row.columns;
    const float own = wrong ? 0.0F : predictions[row.begin + label];
    std::int64_t larger = 0;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      const float other = predictions[row.begin + i];
      const bool behind = i == label || (i < label ? other < own : other <= own);
      if (!behind) ++larger;
    }
    larger = by.reduce(row, larger, Plus{});
    const float match = larger < k && own == own ? 1.0F : 0.0F;
    if (row.leads()) matches[row.index] = wrong ? math::from_bits(0x7FC00000) : match;
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

// NaN is on neither side.
__global__ void binary_matches(std::int64_t elements, float threshold, const float* predictions, const float* labels,
                               float* matches) {
  for (std::int64_t i = first_index(); i < elements; i += index_step()) {
    const bool above = predictions[i] > threshold, below = predictions[i] <= threshold;
    matches[i] = (labels[i] > threshold ? above : below) ? 1.0F : 0.0F;
  }
}

}  // namespace

cudaError_t launch_top_k_matches(const LaunchOn& on, std::int64_t rows, std::int64_t columns, std::int64_t k,
                                 const float* predictions, const void* labels, Dtype label_type, float* matches) {
  return launch_rows(on, rows, columns,
                     TopKMatches{k, predictions, labels, label_type, is_floating(label_type), matches});
}

cudaError_t launch_binary_matches(const LaunchOn& on, std::int64_t elements, float threshold, const float* predictions,
                                  const float* labels, float* matches) {
  if (elements == 0) return cudaSuccess;
  return launch(on, blocks_for(on, elements), block_threads, &binary_matches, elements, threshold, predictions, labels,
                matches);
}

}  // namespace gpubench::cuda
