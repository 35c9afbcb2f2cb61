// Chooses the cuBLASLt algorithm of each product once per device, by timing if requested, and remembers it for all
// kernels, so that eager execution and new plans do not ask again.
#pragma once
#include <map>
#include <mutex>
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
  /// " searched" when it was chosen by timing.
  std::string name = {};
};

class MatmulAlgorithms {
 public:
  /// `candidates`: how many of the library's proposals are timed; below 2 the first one is taken.
  MatmulAlgorithms(CudaDevice& device, int candidates) : device_(device), candidates_(candidates) {}

  /// nullptr if the library has no algorithm. Thread-safe; the result stays valid. A search takes memory from the
  /// device's pool and may throw OutOfMemory.
  const MatmulAlgorithm* find(const MatmulProblem& problem);

 private:
  std::optional<MatmulAlgorithm> choose(const MatmulProblem& problem) const;

  CudaDevice& device_;
  int candidates_;
  std::mutex mutex_;
  std::map<MatmulProblem, std::optional<MatmulAlgorithm>> chosen_;
};

}  // namespace gpubench::cuda
