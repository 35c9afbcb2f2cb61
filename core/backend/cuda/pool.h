// The geometry of pooling, for its own kernels and for those that pool what they compute.
#pragma once
#include "core/backend/cuda/kernels/pool.h"
#include "core/ops/pool.h"

namespace gpubench::cuda {

/// Throws Error naming `op` for a type that is no floating one, and for images that 32 bits cannot count.
PoolGeometry pool_geometry(const Op& op, const Pool2DAttributes& options, const TensorType& image,
                           Dtype winner = Dtype::u8);

}  // namespace gpubench::cuda
