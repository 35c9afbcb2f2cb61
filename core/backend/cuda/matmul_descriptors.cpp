#include "core/backend/cuda/matmul_descriptors.h"

namespace gpubench::cuda {
namespace {

cudaDataType data_type(Dtype dtype) {
  if (dtype == Dtype::f16) return CUDA_R_16F;
  if (dtype == Dtype::bf16) return CUDA_R_16BF;
  if (dtype == Dtype::i8) return CUDA_R_8I;
  if (dtype == Dtype::i32) return CUDA_R_32I;
  return CUDA_R_32F;
}

MatrixLayout layout_of(const MatrixShape& shape, Dtype dtype, std::int64_t batch) {
  cublasLtMatrixLayout_t made = nullptr;
  check(cublaslt().matrix_layout_create(&made, data_type(dtype), static_cast<std::uint64_t>(shape.rows),
                                        static_cast<std::uint64_t>(shape.columns), shape.rows),
        "cublasLtMatrixLayoutCreate");
  MatrixLayout layout(made);
  if (batch == 1) return layout;
  const auto set = [&](cublasLtMatrixLayoutAttribute_t attribute, const auto& value) {
    check(cublaslt().matrix_layout_set_attribute(made, attribute, &value, sizeof value),
          "cublasLtMatrixLayoutSetAttribute");
  };
  set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
  set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, shape.batch_stride);
  return layout;
}

template <class T>
void set(const MatmulDesc& product, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  check(cublaslt().matmul_desc_set_attribute(product.get(), attribute, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
}

MatmulDesc product_of(const MatmulProblem& problem) {
  cublasLtMatmulDesc_t made = nullptr;
  if (problem.dtype == Dtype::i8) {
    check(cublaslt().matmul_desc_create(&made, CUBLAS_COMPUTE_32I, CUDA_R_32I), "cublasLtMatmulDescCreate");
  } else {
    const cublasComputeType_t compute = problem.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    check(cublaslt().matmul_desc_create(&made, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
  }
  MatmulDesc product(made);
  set(product, CUBLASLT_MATMUL_DESC_TRANSA, problem.transpose_left ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(product, CUBLASLT_MATMUL_DESC_TRANSB, problem.transpose_right ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(product, CUBLASLT_MATMUL_DESC_EPILOGUE, problem.epilogue);
  if (problem.aux_leading > 0) set(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, problem.aux_leading);
  return product;
}

}  // namespace

MatmulDescriptors::MatmulDescriptors(const MatmulProblem& problem)
    : product_(product_of(problem)),
      left_(layout_of(problem.left, problem.dtype, problem.batch)),
      right_(layout_of(problem.right, problem.dtype, problem.batch)),
      result_(layout_of(problem.result, result_type(problem), problem.batch)),
      integer_(problem.dtype == Dtype::i8) {}

void MatmulDescriptors::set_epilogue(const void* vector, const void* aux) {
  if (vector != vector_) set(product_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector);
  if (aux != aux_) set(product_, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux);
  vector_ = vector;
  aux_ = aux;
}

void multiply(cublasLtHandle_t handle, const MatmulDescriptors& descriptors, const cublasLtMatmulAlgo_t& algorithm,
              const MatmulMemory& memory, cudaStream_t stream) {
  const float real_one = 1, real_zero = 0;
  const std::int32_t whole_one = 1, whole_zero = 0;
  const void* const one = descriptors.integer() ? static_cast<const void*>(&whole_one) : &real_one;
  const void* const zero = descriptors.integer() ? static_cast<const void*>(&whole_zero) : &real_zero;
  const bool adds = memory.sum != nullptr;
  check(cublaslt().matmul(handle, descriptors.product(), one, memory.left, descriptors.left(), memory.right,
                          descriptors.right(), adds ? one : zero, adds ? memory.sum : memory.result,
                          descriptors.result(), memory.result, descriptors.result(), &algorithm,
                          memory.workspace.data(), memory.workspace.size(), stream),
        "cublasLtMatmul");
}

}  // namespace gpubench::cuda
