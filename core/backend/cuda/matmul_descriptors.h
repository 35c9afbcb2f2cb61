// cuBLASLt's descriptors of a problem: the product and its matrices.
#pragma once
#include "core/backend/cuda/cublaslt.h"
#include "core/backend/cuda/matmul_problem.h"

namespace gpubench::cuda {

class MatmulDescriptors {
 public:
  explicit MatmulDescriptors(const MatmulProblem& problem);

  /// The memory that the epilogue reads or writes is an attribute of the descriptor; nullptr where it has none. A
  /// graph's has one place, so it changes once in practice.
  void set_epilogue(const void* vector, const void* aux);

  cublasLtMatmulDesc_t product() const { return product_.get(); }
  cublasLtMatrixLayout_t left() const { return left_.get(); }
  cublasLtMatrixLayout_t right() const { return right_.get(); }
  cublasLtMatrixLayout_t result() const { return result_.get(); }
  /// Whether the factors before the product and the sum are int32, and not float32.
  bool integer() const { return integer_; }

 private:
  MatmulDesc product_;
  MatrixLayout left_, right_, result_;
  bool integer_;
  const void *vector_ = nullptr, *aux_ = nullptr;
};

/// One product in memory of these addresses; the workspace is as large as the algorithm asked for.
struct MatmulMemory {
  const std::byte *left = nullptr, *right = nullptr;
  std::byte* result = nullptr;
  std::span<std::byte> workspace;
  const std::byte* sum = nullptr;  ///< that the product is added to; may be the result's memory
};
void multiply(cublasLtHandle_t handle, const MatmulDescriptors& descriptors, const cublasLtMatmulAlgo_t& algorithm,
              const MatmulMemory& memory, cudaStream_t stream);

}  // namespace gpubench::cuda
