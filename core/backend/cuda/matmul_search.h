// Times algorithms for one matrix product against each other.
#pragma once
#include <span>

#include "core/backend/cuda/matmul_algorithms.h"

namespace gpubench::cuda {

/// The index of the candidate with the lowest median of several runs (ties: the first). Allocates the problem's memory
/// from the device's pool while it runs; throws OutOfMemory. Blocks until the device's stream is idle.
std::size_t fastest_matmul(CudaDevice& device, const MatmulProblem& problem,
                           std::span<const MatmulAlgorithm> candidates);

}  // namespace gpubench::cuda
