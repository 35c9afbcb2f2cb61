// Packs of four channels where the channels divide by four: then no pack crosses from one row to the next.
#include "core/backend/cuda/kernels/bias.h"
#include "core/backend/cuda/kernels/elementwise.cuh"

namespace gpubench::cuda {
namespace {

__global__ void bias_add_packed(std::int64_t elements, std::int64_t channels, Dtype type, void* y, const void* x,
                                const void* bias) {
  for (std::int64_t i = first_index() * pack_size; i < elements; i += index_step() * pack_size) {
    Pack<float> sum = load_pack(x, type, i);
    const Pack<float> added = load_pack(bias, type, i % channels);
#pragma unroll
    for (int k = 0; k < pack_size; ++k) sum.values[k] += added.values[k];
    store_pack(y, type, i, sum);
  }
}

__global__ void bias_add(std::int64_t elements, std::int64_t channels, Dtype type, void* y, const void* x,
                         const void* bias) {
  for (std::int64_t i = first_index(); i < elements; i += index_step()) {
    store_as<float>(y, type, i, load_as<float>(x, type, i) + load_as<float>(bias, type, i % channels));
  }
}

}  // namespace

cudaError_t launch_bias_add(const LaunchOn& on, std::int64_t elements, std::int64_t channels, Dtype type, void* y,
                            const void* x, const void* bias) {
  if (elements == 0) return cudaSuccess;
  const bool packed = channels % pack_size == 0;
  return launch(on, blocks_for(on, elements, block_threads * (packed ? pack_size : 1)), block_threads,
                packed ? &bias_add_packed : &bias_add, elements, channels, type, y, x, bias);
}

}  // namespace gpubench::cuda
