// Products of the cuBLASLt that runs on the CPU: plain loops over column-major matrices, as its header says them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cublasLt.h>

namespace gpubench::cuda_on_cpu {

struct BlasLayout {
  cudaDataType type = CUDA_R_32F;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};

struct BlasProduct {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasOperation_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  void* aux = nullptr;
  std::int64_t aux_leading = 0;
};

/// What an epilogue is made of; the header composes its numbers of these bits.
struct BlasEpilogue {
  explicit BlasEpilogue(cublasLtEpilogue_t epilogue)
      : bias((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0),
        relu((epilogue & CUBLASLT_EPILOGUE_RELU) != 0),
        gelu((epilogue & CUBLASLT_EPILOGUE_GELU) != 0),
        relu_gradient((epilogue & CUBLASLT_EPILOGUE_DRELU) == CUBLASLT_EPILOGUE_DRELU),
        gelu_gradient((epilogue & CUBLASLT_EPILOGUE_DGELU) == CUBLASLT_EPILOGUE_DGELU),
        aux((epilogue & 128) != 0),
        sum_a((epilogue & CUBLASLT_EPILOGUE_BGRADA) != 0),
        sum_b((epilogue & CUBLASLT_EPILOGUE_BGRADB) != 0) {}
  bool has_mask() const { return aux && (relu || relu_gradient); }
  bool has_vector() const { return bias || sum_a || sum_b; }
  bool is_for_training() const { return aux || sum_a || sum_b; }
  bool bias, relu, gelu, relu_gradient, gelu_gradient, aux, sum_a, sum_b;
};

/// CUBLAS_STATUS_INVALID_VALUE. Prints what is wrong, so that a test's log shows it.
cublasStatus_t blas_fault(const char* what);
/// The most that a pointer's address is aligned to, up to 256.
std::uint32_t blas_alignment_of(const void* memory);
/// Whether cuBLASLt computes d = a b with this epilogue.
cublasStatus_t check_product(const BlasProduct& product, const BlasLayout& a, const BlasLayout& b, const BlasLayout& d);
/// `sum_c`: what the products are added to, laid out as d; nullptr for nothing. `reduction`: how both halves of a sum
/// are added.
void multiply(const BlasProduct& product, const BlasLayout& a, const BlasLayout& b, const BlasLayout& d,
              const void* from_a, const void* from_b, const void* sum_c, void* to, std::uint32_t reduction);

}  // namespace gpubench::cuda_on_cpu
