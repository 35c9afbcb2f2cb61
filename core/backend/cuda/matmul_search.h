// Algorithms for one problem measured against each other on the device. Matrices are random: a GPU that multiplies
// zeros draws less power and clocks higher than one at work.
#pragma once
#include <span>

#include "core/backend/cuda/matmul_algorithms.h"

namespace gpubench::cuda {

/// The index of the candidate with the shortest median of several runs, the first of equals. Takes the problem's memory
/// from the device's pool meanwhile, throws OutOfMemory; waits for all work on the device's stream.
std::size_t fastest_matmul(CudaDevice& device, const MatmulProblem& problem,
                           std::span<const MatmulAlgorithm> candidates);

}  // namespace gpubench::cuda
