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
};

}  // namespace gpubench
