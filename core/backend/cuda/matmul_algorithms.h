// Chooses the cuBLASLt algorithm of a product, by timing if requested.
#pragma once
#include <optional>
#include <string>

#include "core/backend/cuda/cublaslt.h"
#include "core/backend/cuda/matmul_problem.h"

namespace gpubench::cuda {

class CudaDevice;

struct MatmulAlgorithm {
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace_bytes = 0;
  /// "cublaslt:21", with cuBLASLt's number of the algorithm (variants with other tiles or stages share it); followed by
  /// how the parts are added when the sums are split ("cublaslt:21 split, added in the type of sums"), and by
  /// " searched" when it was chosen by timing.
  std::string name = {};
};

/// None if the library has no algorithm. Of as many of the library's proposals as CudaOptions::matmul_search says, the
/// fastest; timing takes memory from the device's pool. Where the option asks for it, that may throw OutOfMemory; by
/// default the first proposal is taken instead.
std::optional<MatmulAlgorithm> choose_algorithm(CudaDevice& device, const MatmulProblem& problem);

/// The same, chosen once and remembered; nullptr for none. Thread-safe; the result stays valid.
const MatmulAlgorithm* algorithm_for(CudaDevice& device, const MatmulProblem& problem);

}  // namespace gpubench::cuda
