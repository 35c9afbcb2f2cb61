// Sums of squares of gradients, whose norms the updates limit.
#include "core/backend/cuda/kernels/block_reduce.cuh"
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/optimizer.h"
#include "core/backend/cuda/kernels/tensor_tiles.cuh"

namespace gpubench::cuda {

namespace {

/// Elements that a thread loads at once.
constexpr int squares_pack = 8;

__global__ void squares_kernel(const __grid_constant__ SquaresTensors tensors, float* partial, std::int64_t tiles) {
  for_each_tile<squares_tile>(tensors.elements, tiles, [&](const auto& tile) {
    const void* const values = tensors.tensor[tile.tensor];
    const Dtype type = tensors.type[tile.tensor];
    float sum = 0;
    tile.template for_each_pack<squares_pack>([&]<int n>(std::int64_t i) {
      const auto pack = load_pack<n>(values, type, i);
#pragma unroll
      for (const float value : pack.values) sum += value * value;
    });
    sum = block_reduce<block_threads>(sum, math::Add{});
    if (threadIdx.x == 0) partial[tile.index] = sum;
    __syncthreads();
  });
}

// A block for each sum: one order of additions gives one result.
__global__ void sum_ranges_kernel(const __grid_constant__ SumRanges ranges, const float* partial, float* sums) {
  const int range = static_cast<int>(blockIdx.x);
  const std::int64_t begin = range == 0 ? ranges.begin : ranges.ends[range - 1];
  double sum = 0;
  for (std::int64_t i = begin + threadIdx.x; i < ranges.ends[range]; i += blockDim.x) {
    sum += static_cast<double>(partial[i]);
  }
  const double total = block_reduce<block_threads>(sum, math::Add{});
  if (threadIdx.x == 0) sums[range] = static_cast<float>(total);
}

}  // namespace

cudaError_t launch_squares(const LaunchOn& on, const SquaresTensors& tensors, float* partial) {
  const std::int64_t tiles = tiles_of<squares_tile>(tensors);
  if (tiles == 0) return cudaSuccess;
  return launch_filling<&squares_kernel>(on, tiles, 1, tensors, partial, tiles);
}

cudaError_t launch_sum_ranges(const LaunchOn& on, const SumRanges& ranges, const float* partial, float* sums) {
  return launch(on, static_cast<unsigned>(ranges.count), block_threads, &sum_ranges_kernel, ranges, partial, sums);
}

}  // namespace gpubench::cuda
