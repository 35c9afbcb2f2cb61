// Which of cuBLASLt's algorithms computes a problem on one device: asked for once, by request measured, and remembered
// for all kernels of the device, so that eager execution and planning anew do not ask again.
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
  /// "cublaslt:21", by cuBLASLt's own number, which settings (tiles, stages) share; with " searched" behind it when it
  /// was measured against others.
  std::string name = {};
};

class MatmulAlgorithms {
 public:
  /// `candidates`: how many of the library's proposals are measured; below 2 its first is taken.
  MatmulAlgorithms(CudaDevice& device, int candidates) : device_(device), candidates_(candidates) {}

  /// nullptr where the library has none. Any thread may call it; what it returns stays. A search needs memory of the
  /// device's pool and throws OutOfMemory.
  const MatmulAlgorithm* find(const MatmulProblem& problem);

 private:
  std::optional<MatmulAlgorithm> choose(const MatmulProblem& problem) const;

  CudaDevice& device_;
  int candidates_;
  std::mutex mutex_;
  std::map<MatmulProblem, std::optional<MatmulAlgorithm>> chosen_;
};

}  // namespace gpubench::cuda
