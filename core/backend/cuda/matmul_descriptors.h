// cuBLASLt's descriptors of a product and its matrices.
#pragma once
#include "core/backend/cuda/cublaslt.h"
#include "core/backend/cuda/matmul_problem.h"

namespace gpubench::cuda {

class MatmulDescriptors {
 public:
  explicit MatmulDescriptors(const MatmulProblem& problem);

  /// Sets the memory that the epilogue reads or writes, an attribute of the descriptor; nullptr where it has none. In a
  /// graph this memory stays the same, so it is set once in practice.
  void set_epilogue(const void* vector, const void* aux);

  cublasLtMatmulDesc_t product() const { return product_.get(); }
  cublasLtMatrixLayout_t left() const { return left_.get(); }
  cublasLtMatrixLayout_t right() const { return right_.get(); }
  cublasLtMatrixLayout_t result() const { return result_.get(); }
  /// Whether the scale factors of the product and of the sum (alpha, beta) are int32 instead of float32.
  bool integer() const { return integer_; }

 private:
  MatmulDesc product_;
  MatrixLayout left_, right_, result_;
  bool integer_;
  const void *vector_ = nullptr, *aux_ = nullptr;
};

/// The addresses for one product; the workspace has the size that the algorithm requires.
struct MatmulMemory {
  const std::byte *left = nullptr, *right = nullptr;
  std::byte* result = nullptr;
  std::span<std::byte> workspace;
  const std::byte* sum = nullptr;  ///< to which the product is added; may be the result's memory
};
void multiply(cublasLtHandle_t handle, const MatmulDescriptors& descriptors, const cublasLtMatmulAlgo_t& algorithm,
              const MatmulMemory& memory, cudaStream_t stream);

}  // namespace gpubench::cuda
