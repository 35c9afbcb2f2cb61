#include "tests/support/cuda_on_cpu/blaslt_product.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/math/half.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/tensor_core.h"

namespace gpubench::cuda_on_cpu {
namespace {

double load(const void* data, cudaDataType type, std::int64_t at) {
  if (type == CUDA_R_16F) return math::to_float(static_cast<const math::Float16*>(data)[at]);
  if (type == CUDA_R_16BF) return math::to_float(static_cast<const math::Bfloat16*>(data)[at]);
  if (type == CUDA_R_8I) return static_cast<const std::int8_t*>(data)[at];
  if (type == CUDA_R_32I) return static_cast<const std::int32_t*>(data)[at];
  return static_cast<const float*>(data)[at];
}

void store(void* data, cudaDataType type, std::int64_t at, double value) {
  const auto rounded = static_cast<float>(value);
  if (type == CUDA_R_16F) {
    static_cast<math::Float16*>(data)[at] = math::to_float16(rounded);
  } else if (type == CUDA_R_16BF) {
    static_cast<math::Bfloat16*>(data)[at] = math::to_bfloat16(rounded);
  } else if (type == CUDA_R_32I) {
    static_cast<std::int32_t*>(data)[at] = static_cast<std::int32_t>(value);
  } else {
    static_cast<float*>(data)[at] = rounded;
  }
}

struct Extents {
  std::int64_t m, n, k;
};

/// 0 for m where the shapes do not multiply.
Extents extents_of(const BlasProduct& product, const BlasLayout& a, const BlasLayout& b, const BlasLayout& d) {
  const bool ta = product.transpose_a == CUBLAS_OP_T, tb = product.transpose_b == CUBLAS_OP_T;
  const std::uint64_t m = ta ? a.columns : a.rows, k = ta ? a.rows : a.columns;
  const std::uint64_t k_b = tb ? b.columns : b.rows, n = tb ? b.rows : b.columns;
  if (k != k_b || m != d.rows || n != d.columns) return {0, 0, 0};
  return {static_cast<std::int64_t>(m), static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)};
}

/// The header's and the documentation's conditions for int8 in regular order. The library says no more than that it
/// does not support what breaks them.
cublasStatus_t check_integers(const BlasProduct& product, const BlasLayout& a, const BlasLayout& b,
                              const BlasLayout& d) {
  const auto refused = [](const char* what) {
    blas_fault(what);
    return CUBLAS_STATUS_NOT_SUPPORTED;
  };
  if (product.compute != CUBLAS_COMPUTE_32I) return refused("int8 that is not computed in int32");
  if (a.type != CUDA_R_8I || b.type != CUDA_R_8I || d.type != CUDA_R_32I) return refused("types beside int8");
  if (product.transpose_a != CUBLAS_OP_T || product.transpose_b != CUBLAS_OP_N) return refused("int8 not as T and N");
  const auto [m, n, k] = extents_of(product, a, b, d);
  if (m % 4 != 0 || k % 4 != 0 || a.leading % 4 != 0 || b.leading % 4 != 0 || d.leading % 4 != 0) {
    return refused("int8 of a length that is not a multiple of 4");
  }
  if (product.epilogue != CUBLASLT_EPILOGUE_DEFAULT) return refused("an epilogue of int32");
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t check_layouts(const BlasProduct& product, const BlasLayout& a, const BlasLayout& b,
                             const BlasLayout& d) {
  for (const BlasLayout* layout : {&a, &b, &d}) {
    if (layout->leading < static_cast<std::int64_t>(layout->rows))
      return blas_fault("a leading dimension below the rows");
    if (layout->batch != d.batch) return blas_fault("batch counts that differ");
    if (layout->type != d.type && a.type != CUDA_R_8I) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (a.type == CUDA_R_8I || product.compute == CUBLAS_COMPUTE_32I) {
    if (const cublasStatus_t status = check_integers(product, a, b, d); status != CUBLAS_STATUS_SUCCESS) return status;
  }
  if (product.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && d.type != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (extents_of(product, a, b, d).m == 0) return blas_fault("shapes that do not multiply");
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t check_epilogue(const BlasProduct& product, const BlasLayout& d) {
  const BlasEpilogue parts(product.epilogue);
  if (parts.is_for_training() && !machine().blaslt_fuses_training) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (parts.has_vector() && product.bias == nullptr) return blas_fault("an epilogue without its bias");
  if (!parts.aux) return CUBLAS_STATUS_SUCCESS;
  if (product.aux == nullptr) return blas_fault("an epilogue without its auxiliary memory");
  if (d.batch != 1) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (product.aux_leading < static_cast<std::int64_t>(d.rows) ||
      product.aux_leading % (parts.has_mask() ? 128 : 8) != 0) {
    return blas_fault(
        "a leading dimension of auxiliary memory that is too small or not a multiple of 128 bits, 8 elements");
  }
  return CUBLAS_STATUS_SUCCESS;
}

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double gelu_slope(double x) {
  const double c = std::sqrt(2 / M_PI), t = std::tanh(c * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x);
}

/// The element in row i and column j after the epilogue; a mask's bit i of a column is bit i % 8 of its byte i / 8.
double finish(const BlasProduct& product, const BlasLayout& d, std::int64_t i, std::int64_t j, double sum) {
  const BlasEpilogue parts(product.epilogue);
  const std::int64_t at = j * product.aux_leading + i;
  if (parts.bias) sum += load(product.bias, d.type, i);
  if (parts.aux && parts.gelu) store(product.aux, d.type, at, sum);
  if (parts.relu_gradient || (parts.aux && parts.relu)) {
    auto& byte = static_cast<unsigned char*>(product.aux)[at / 8];
    const auto bit = static_cast<unsigned char>(1U << (at % 8));
    if (parts.relu_gradient) return (byte & bit) != 0 ? sum : 0;
    const unsigned earlier = i % 8 == 0 ? 0U : byte;  // the rows come in order, and a column begins with a byte
    byte = static_cast<unsigned char>(sum > 0 ? earlier | bit : earlier);
  }
  if (parts.gelu_gradient) return sum * gelu_slope(load(product.aux, d.type, at));
  if (parts.relu) return std::fmax(sum, 0);
  return parts.gelu ? gelu(sum) : sum;
}

/// As a result of this type keeps it.
double rounded(cudaDataType type, double value) {
  double memory = 0;
  store(&memory, type, 0, value);
  return load(&memory, type, 0);
}

/// Whether the parts of a split sum are kept in the type of the result.
bool rounds_parts(std::uint32_t reduction) {
  return reduction == CUBLASLT_REDUCTION_SCHEME_INPLACE || reduction == CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
}

}  // namespace

cublasStatus_t blas_fault(const char* what) {
  std::fprintf(stderr, "cuBLASLt on the CPU: %s\n", what);
  return CUBLAS_STATUS_INVALID_VALUE;
}

std::uint32_t blas_alignment_of(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return static_cast<std::uint32_t>(std::min<std::uintptr_t>(256, address & (~address + 1)));
}

cublasStatus_t check_product(const BlasProduct& product, const BlasLayout& a, const BlasLayout& b,
                             const BlasLayout& d) {
  const cublasStatus_t status = check_layouts(product, a, b, d);
  return status == CUBLAS_STATUS_SUCCESS ? check_epilogue(product, d) : status;
}

void multiply(const BlasProduct& product, const BlasLayout& a, const BlasLayout& b, const BlasLayout& d,
              const void* from_a, const void* from_b, const void* sum_c, void* to, std::uint32_t reduction) {
  const auto [m, n, k] = extents_of(product, a, b, d);
  const auto element = [&product](const void* data, const BlasLayout& layout, bool transposed, std::int64_t batch,
                                  std::int64_t row, std::int64_t column) {
    const std::int64_t at = transposed ? row * layout.leading + column : column * layout.leading + row;
    const double value = load(data, layout.type, batch * layout.stride + at);
    return product.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? as_tf32(value) : value;
  };
  const bool ta = product.transpose_a == CUBLAS_OP_T, tb = product.transpose_b == CUBLAS_OP_T;
  for (std::int64_t batch = 0; batch < d.batch; ++batch) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = sum_c == nullptr ? 0 : load(sum_c, d.type, batch * d.stride + j * d.leading + i);
        for (std::int64_t l = 0; l < k; ++l) {
          if (l == k / 2 && rounds_parts(reduction)) sum = rounded(d.type, sum);
          sum += element(from_a, a, ta, batch, i, l) * element(from_b, b, tb, batch, l, j);
        }
        store(to, d.type, batch * d.stride + j * d.leading + i, finish(product, d, i, j, sum));
      }
    }
  }
  const BlasEpilogue parts(product.epilogue);
  for (std::int64_t i = 0; i < (parts.sum_a ? m : parts.sum_b ? n : 0); ++i) {
    double sum = 0;
    for (std::int64_t l = 0; l < k; ++l) {
      sum += parts.sum_a ? element(from_a, a, ta, 0, i, l) : element(from_b, b, tb, 0, l, i);
    }
    store(product.bias, d.type, i, sum);
  }
}

}  // namespace gpubench::cuda_on_cpu
