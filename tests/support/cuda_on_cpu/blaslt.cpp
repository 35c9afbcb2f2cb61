// cuBLASLt's functions that gpubench calls, on the CPU.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/backend/cuda/cublaslt.h"
#include "tests/support/cuda_on_cpu/blaslt_product.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/queue.h"

namespace gpubench::cuda {
namespace {

using cuda_on_cpu::blas_alignment_of;
using cuda_on_cpu::blas_fault;
using cuda_on_cpu::BlasEpilogue;
using cuda_on_cpu::BlasLayout;
using cuda_on_cpu::BlasProduct;
using cuda_on_cpu::check_product;
using cuda_on_cpu::multiply;

struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::uint64_t implementations = ~std::uint64_t{0};
  std::uint32_t alignment[4] = {256, 256, 256, 256};
};

/// What an algorithm was chosen for; it lies in cublasLtMatmulAlgo_t's opaque words.
struct Algorithm {
  std::int32_t id = 0;
  std::uint32_t reduction = CUBLASLT_REDUCTION_SCHEME_NONE;
  std::uint32_t alignment[4] = {};
  std::uint64_t workspace = 0;
  std::uint32_t bias_alignment = 0, aux_alignment = 0;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

template <class T>
bool take(T& to, const void* from, std::size_t bytes) {
  if (from == nullptr || bytes != sizeof(T)) return false;
  std::memcpy(&to, from, sizeof(T));
  return true;
}

std::atomic<std::size_t> heuristic_count{0};

cublasStatus_t create(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new int(0));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t destroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<int*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
const char* get_status_string(cublasStatus_t) {
  return "an error of the cuBLASLt that runs on the CPU";
}

cublasStatus_t matmul_desc_create(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  if (scale != (compute == CUBLAS_COMPUTE_32I ? CUDA_R_32I : CUDA_R_32F)) {
    return blas_fault("a scale that is neither float32 nor, for int32, int32");
  }
  *desc = reinterpret_cast<cublasLtMatmulDesc_t>(new BlasProduct{.compute = compute});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t matmul_desc_destroy(cublasLtMatmulDesc_t desc) {
  delete reinterpret_cast<BlasProduct*>(desc);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t matmul_desc_set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, const void* value,
                               std::size_t bytes) {
  auto& product = *reinterpret_cast<BlasProduct*>(desc);
  bool taken = false;
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA) taken = take(product.transpose_a, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSB) taken = take(product.transpose_b, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE) taken = take(product.epilogue, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER) taken = take(product.bias, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER) taken = take(product.aux, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD) taken = take(product.aux_leading, value, bytes);
  return taken ? CUBLAS_STATUS_SUCCESS : blas_fault("an attribute of a product of the wrong size, or not known here");
}

cublasStatus_t layout_create(cublasLtMatrixLayout_t* layout, cudaDataType type, std::uint64_t rows,
                             std::uint64_t columns, std::int64_t leading) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
      new BlasLayout{.type = type, .rows = rows, .columns = columns, .leading = leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t layout_destroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<BlasLayout*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t layout_set(cublasLtMatrixLayout_t handle, cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                          std::size_t bytes) {
  auto& layout = *reinterpret_cast<BlasLayout*>(handle);
  bool taken = false;
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) taken = take(layout.batch, value, bytes);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) taken = take(layout.stride, value, bytes);
  return taken ? CUBLAS_STATUS_SUCCESS : blas_fault("an attribute of a layout of the wrong size, or not known here");
}

cublasStatus_t preference_create(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t preference_destroy(cublasLtMatmulPreference_t preference) {
  delete reinterpret_cast<Preference*>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t preference_set(cublasLtMatmulPreference_t handle, cublasLtMatmulPreferenceAttributes_t attribute,
                              const void* value, std::size_t bytes) {
  auto& preference = *reinterpret_cast<Preference*>(handle);
  bool taken = false;
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) taken = take(preference.workspace, value, bytes);
  if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) taken = take(preference.reductions, value, bytes);
  if (attribute == CUBLASLT_MATMUL_PREF_IMPL_MASK) taken = take(preference.implementations, value, bytes);
  const int matrix = attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
  if (matrix >= 0 && matrix < 4) taken = take(preference.alignment[matrix], value, bytes);
  return taken ? CUBLAS_STATUS_SUCCESS : blas_fault("a preference of the wrong size, or not known here");
}

/// Of those that the machine has for its algorithms, the one of the algorithm with this index.
template <class T>
T of_algorithm(const std::vector<T>& all, std::size_t index) {
  return index < all.size() ? all[index] : T{};
}

/// Proposes an algorithm for each of machine().matmul_milliseconds, numbered from 1, less those that are not preferred.
cublasStatus_t get_heuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                             cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                             cublasLtMatmulPreference_t preferred, int wanted, cublasLtMatmulHeuristicResult_t* results,
                             int* found) {
  ++heuristic_count;
  const auto& product = *reinterpret_cast<BlasProduct*>(desc);
  const auto& preference = *reinterpret_cast<Preference*>(preferred);
  const BlasLayout& result = *reinterpret_cast<BlasLayout*>(d);
  const cublasStatus_t status =
      check_product(product, *reinterpret_cast<BlasLayout*>(a), *reinterpret_cast<BlasLayout*>(b), result);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const cuda_on_cpu::Machine& machine = cuda_on_cpu::machine();
  *found = 0;
  for (std::size_t i = 0; i < machine.matmul_milliseconds.size() && *found < wanted; ++i) {
    const std::uint32_t reduction = of_algorithm(machine.matmul_reductions, i);
    if ((reduction & ~preference.reductions) != 0) continue;
    if ((of_algorithm(machine.matmul_implementations, i) & ~preference.implementations) != 0) continue;
    Algorithm algorithm{.id = static_cast<std::int32_t>(i) + 1,
                        .reduction = reduction,
                        .alignment = {},
                        .workspace = std::min<std::uint64_t>(preference.workspace, 1000),
                        .bias_alignment = blas_alignment_of(product.bias),
                        .aux_alignment = blas_alignment_of(product.aux)};
    std::memcpy(algorithm.alignment, preference.alignment, sizeof algorithm.alignment);
    cublasLtMatmulHeuristicResult_t& proposal = results[(*found)++];
    proposal = {};
    std::memcpy(&proposal.algo, &algorithm, sizeof algorithm);
    proposal.workspaceSize = algorithm.workspace;
    proposal.state = CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t algo_config_get(const cublasLtMatmulAlgo_t* algo, cublasLtMatmulAlgoConfigAttributes_t attribute,
                               void* value, std::size_t bytes, std::size_t* written) {
  Algorithm algorithm;
  std::memcpy(static_cast<void*>(&algorithm), algo, sizeof algorithm);
  const bool is_id = attribute == CUBLASLT_ALGO_CONFIG_ID;
  if ((!is_id && attribute != CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME) || bytes != sizeof(std::uint32_t)) {
    return blas_fault("an algorithm's attribute");
  }
  std::memcpy(value, is_id ? static_cast<const void*>(&algorithm.id) : &algorithm.reduction, bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

/// The first run of each algorithm loads its code.
double milliseconds_of(std::int32_t id) {
  static std::atomic<std::uint64_t> loaded{0};
  const std::uint64_t bit = std::uint64_t{1} << id;
  const bool first = (loaded.fetch_or(bit) & bit) == 0;
  return (first ? 1000 : 0) + cuda_on_cpu::machine().matmul_milliseconds[static_cast<std::size_t>(id) - 1];
}

cublasStatus_t matmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                      cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                      const void* c, cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                      const cublasLtMatmulAlgo_t* algo, void* workspace, std::size_t workspace_bytes,
                      cudaStream_t stream) {
  const BlasProduct product = *reinterpret_cast<BlasProduct*>(desc);
  const BlasLayout layout_a = *reinterpret_cast<BlasLayout*>(a_layout),
                   layout_b = *reinterpret_cast<BlasLayout*>(b_layout);
  const BlasLayout layout_d = *reinterpret_cast<BlasLayout*>(d_layout);
  if (const cublasStatus_t status = check_product(product, layout_a, layout_b, layout_d);
      status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  const auto number = [&](const void* at) {
    return product.compute == CUBLAS_COMPUTE_32I ? static_cast<float>(*static_cast<const std::int32_t*>(at))
                                                 : *static_cast<const float*>(at);
  };
  const float factor = number(beta);
  if (number(alpha) != 1 || (factor != 0 && factor != 1)) return blas_fault("alpha or beta");
  const BlasLayout layout_c = *reinterpret_cast<BlasLayout*>(c_layout);
  if (layout_c.leading != layout_d.leading || layout_c.stride != layout_d.stride) return blas_fault("a c unlike d");
  Algorithm algorithm;
  std::memcpy(static_cast<void*>(&algorithm), algo, sizeof algorithm);
  if (workspace_bytes < algorithm.workspace || (algorithm.workspace > 0 && workspace == nullptr)) {
    return blas_fault("too small a workspace");
  }
  // Where it is not, kernels of Hopper fail.
  if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0)
    return blas_fault("a workspace that is not aligned to 256");
  const void* const memory[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) {
    if (reinterpret_cast<std::uintptr_t>(memory[i]) % algorithm.alignment[i] != 0)
      return blas_fault("an alignment broken");
  }
  const BlasEpilogue parts(product.epilogue);
  if ((parts.has_vector() && blas_alignment_of(product.bias) < algorithm.bias_alignment) ||
      (parts.aux && blas_alignment_of(product.aux) < algorithm.aux_alignment)) {
    return blas_fault("an epilogue's memory that is aligned less than when the algorithm was asked for");
  }
  const auto work = [=] {
    std::memset(workspace, 0xFF, algorithm.workspace);  // it is the library's while it runs
    if (!cuda_on_cpu::machine().multiplies) return;
    multiply(product, layout_a, layout_b, layout_d, a, b, factor == 1 ? c : nullptr, d, algorithm.reduction);
  };
  const double more = parts.sum_a || parts.sum_b ? cuda_on_cpu::machine().matmul_sum_milliseconds : 0;
  const cuda_on_cpu::LibraryRuntime own;
  const cudaError_t queued = cuda_on_cpu::queue(stream, work, milliseconds_of(algorithm.id) + more);
  return queued == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

const CublasLt& cublaslt() {
  static const CublasLt functions{.create = &create,
                                  .destroy = &destroy,
                                  .get_status_string = &get_status_string,
                                  .matmul = &matmul,
                                  .matmul_desc_create = &matmul_desc_create,
                                  .matmul_desc_destroy = &matmul_desc_destroy,
                                  .matmul_desc_set_attribute = &matmul_desc_set,
                                  .matrix_layout_create = &layout_create,
                                  .matrix_layout_destroy = &layout_destroy,
                                  .matrix_layout_set_attribute = &layout_set,
                                  .preference_create = &preference_create,
                                  .preference_destroy = &preference_destroy,
                                  .preference_set_attribute = &preference_set,
                                  .get_heuristic = &get_heuristic,
                                  .algo_config_get_attribute = &algo_config_get};
  return functions;
}

}  // namespace gpubench::cuda

namespace gpubench::cuda_on_cpu {

std::size_t heuristic_calls() {
  return cuda::heuristic_count;
}

}  // namespace gpubench::cuda_on_cpu
