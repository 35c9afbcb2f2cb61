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
  std::int64_t tile = blockIdx.x;
  for_each_tile<squares_tile>(tensors.elements, tiles, [&](int tensor, std::int64_t begin) {
    const std::int64_t elements = tensors.elements[tensor];
    const void* const values = tensors.tensor[tensor];
    float sum = 0;
#pragma unroll
    for (std::int64_t part = 0; part < squares_tile; part += squares_pack * block_threads) {
      const std::int64_t i = begin + part + threadIdx.x * squares_pack;
      if (i + squares_pack <= elements) {
        const Pack<float, squares_pack> pack = load_pack<squares_pack>(values, tensors.type[tensor], i);
#pragma unroll
        for (const float value : pack.values) sum += value * value;
      } else {
#pragma unroll 1
        for (std::int64_t k = i; k < elements; ++k) {
          const float value = load_as<float>(values, tensors.type[tensor], k);
          sum += value * value;
        }
      }
    }
    sum = block_reduce<block_threads>(sum, [](float a, float b) { return a + b; });
    if (threadIdx.x == 0) partial[tile] = sum;
    tile += gridDim.x;
    __syncthreads();
  });
}

// A block for each sum: one order of additions gives one result.
__global__ void sum_ranges_kernel(const __grid_constant__ SumRanges ranges, const float* partial, float* sums) {
  if (ranges.skip != nullptr && *ranges.skip) return;
  const int range = static_cast<int>(blockIdx.x);
  const std::int64_t begin = range == 0 ? ranges.begin : ranges.ends[range - 1];
  double sum = 0;
  for (std::int64_t i = begin + threadIdx.x; i < ranges.ends[range]; i += blockDim.x) {
    sum += static_cast<double>(partial[i]);
  }
  const double total = block_reduce<block_threads>(sum, [](double a, double b) { return a + b; });
  if (threadIdx.x == 0) sums[range] = static_cast<float>(total);
}

}  // namespace

cudaError_t launch_squares(const LaunchOn& on, const SquaresTensors& tensors, float* partial) {
  std::int64_t tiles = 0;
  for (int i = 0; i < tensors.count; ++i) tiles += squares_tiles(tensors.elements[i]);
  if (tiles == 0) return cudaSuccess;
  return launch_filling<&squares_kernel>(on, tiles, 1, tensors, partial, tiles);
}

cudaError_t launch_sum_ranges(const LaunchOn& on, const SumRanges& ranges, const float* partial, float* sums) {
  return launch(on, static_cast<unsigned>(ranges.count), block_threads, &sum_ranges_kernel, ranges, partial, sums);
}

}  // namespace gpubench::cuda
