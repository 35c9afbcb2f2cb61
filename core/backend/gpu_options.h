// How the machine's GPUs are split and limited, as scripts ask for it.
#pragma once
#include "core/device/memory_pool.h"

namespace gpubench {

/// One logical GPU: a share of a physical one, with a memory pool of its own.
struct GpuDeviceOptions {
  int physical = 0;  ///< the GPU, counted as CUDA does after CUDA_VISIBLE_DEVICES
  PoolOptions memory;
  /// Lets float32 convolutions and products of matrices round their inputs to TF32 (10 bits) for the tensor cores.
  bool tf32 = false;
  /// How many algorithms for a product of matrices are measured when it is planned, of which the fastest is kept. Below
  /// 2: none is, and the library's estimate decides.
  int matmul_search = 0;
};

}  // namespace gpubench
