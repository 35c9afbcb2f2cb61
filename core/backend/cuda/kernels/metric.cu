#include "core/backend/cuda/kernels/metric.cuh"

namespace gpubench::cuda {
namespace {

struct TopKMatches {
  LabelRank rank;
  std::int64_t k;
  float* matches;

  template <class By>
  __device__ void operator()(By by, const Row& row) const {
    const std::int64_t of_label = rank(by, row);
    if (row.leads()) matches[row.index] = is_within(k, of_label);
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
                     TopKMatches{{predictions, labels, label_type, is_floating(label_type)}, k, matches});
}

cudaError_t launch_binary_matches(const LaunchOn& on, std::int64_t elements, float threshold, const float* predictions,
                                  const float* labels, float* matches) {
  if (elements == 0) return cudaSuccess;
  return launch(on, blocks_for(on, elements), block_threads, &binary_matches, elements, threshold, predictions, labels,
                matches);
}

}  // namespace gpubench::cuda
