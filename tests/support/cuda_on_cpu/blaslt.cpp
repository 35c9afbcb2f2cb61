// cuBLASLt's functions that gpubench calls, on the CPU: plain loops over column-major matrices, as its header says
// them.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/backend/cuda/cublaslt.h"
#include "core/math/half.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/queue.h"
#include "tests/support/cuda_on_cpu/tensor_core.h"

namespace gpubench::cuda {
namespace {

struct Layout {
  cudaDataType type = CUDA_R_32F;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};

struct Product {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasOperation_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  void* aux = nullptr;
  std::int64_t aux_leading = 0;
};

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

// Not CUBLAS_STATUS_INVALID_VALUE: says what is wrong, where a test's log shows it.
cublasStatus_t wrong(const char* what) {
  std::fprintf(stderr, "cuBLASLt on the CPU: %s\n", what);
  return CUBLAS_STATUS_INVALID_VALUE;
}

template <class T>
bool take(T& to, const void* from, std::size_t bytes) {
  if (from == nullptr || bytes != sizeof(T)) return false;
  std::memcpy(&to, from, sizeof(T));
  return true;
}

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

/// What an epilogue is made of; the header composes its numbers of these bits.
struct Parts {
  explicit Parts(cublasLtEpilogue_t epilogue)
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

std::atomic<std::size_t> heuristic_count{0};

struct Extents {
  std::int64_t m, n, k;
};

/// 0 for m where the shapes do not multiply.
Extents extents_of(const Product& product, const Layout& a, const Layout& b, const Layout& d) {
  const bool ta = product.transpose_a == CUBLAS_OP_T, tb = product.transpose_b == CUBLAS_OP_T;
  const std::uint64_t m = ta ? a.columns : a.rows, k = ta ? a.rows : a.columns;
  const std::uint64_t k_b = tb ? b.columns : b.rows, n = tb ? b.rows : b.columns;
  if (k != k_b || m != d.rows || n != d.columns) return {0, 0, 0};
  return {static_cast<std::int64_t>(m), static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)};
}

/// The header's and the documentation's conditions for int8 in regular order. The library says no more than that it
/// does not support what breaks them.
cublasStatus_t check_integers(const Product& product, const Layout& a, const Layout& b, const Layout& d) {
  const auto refused = [](const char* what) {
    wrong(what);
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

cublasStatus_t check_layouts(const Product& product, const Layout& a, const Layout& b, const Layout& d) {
  for (const Layout* layout : {&a, &b, &d}) {
    if (layout->leading < static_cast<std::int64_t>(layout->rows)) return wrong("a leading dimension below the rows");
    if (layout->batch != d.batch) return wrong("batch counts that differ");
    if (layout->type != d.type && a.type != CUDA_R_8I) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (a.type == CUDA_R_8I || product.compute == CUBLAS_COMPUTE_32I) {
    if (const cublasStatus_t status = check_integers(product, a, b, d); status != CUBLAS_STATUS_SUCCESS) return status;
  }
  if (product.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && d.type != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (extents_of(product, a, b, d).m == 0) return wrong("shapes that do not multiply");
  return CUBLAS_STATUS_SUCCESS;
}

/// The most that a pointer's address is aligned to, up to 256.
std::uint32_t alignment_of(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return static_cast<std::uint32_t>(std::min<std::uintptr_t>(256, address & (~address + 1)));
}

cublasStatus_t check_epilogue(const Product& product, const Layout& d) {
  const Parts parts(product.epilogue);
  if (parts.is_for_training() && !cuda_on_cpu::machine().blaslt_fuses_training) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (parts.has_vector() && product.bias == nullptr) return wrong("an epilogue without its bias");
  if (!parts.aux) return CUBLAS_STATUS_SUCCESS;
  if (product.aux == nullptr) return wrong("an epilogue without its auxiliary memory");
  if (d.batch != 1) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (product.aux_leading < static_cast<std::int64_t>(d.rows) ||
      product.aux_leading % (parts.has_mask() ? 128 : 8) != 0) {
    return wrong("a leading dimension of auxiliary memory that is too small or not a multiple of 128 bits, 8 elements");
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
double finish(const Product& product, const Layout& d, std::int64_t i, std::int64_t j, double sum) {
  const Parts parts(product.epilogue);
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

/// `sum_c`: what the products are added to, laid out as d; nullptr for nothing. `reduction`: how both halves of a sum
/// are added.
void multiply(const Product& product, const Layout& a, const Layout& b, const Layout& d, const void* from_a,
              const void* from_b, const void* sum_c, void* to, std::uint32_t reduction) {
  const auto [m, n, k] = extents_of(product, a, b, d);
  const auto element = [&product](const void* data, const Layout& layout, bool transposed, std::int64_t batch,
                                  std::int64_t row, std::int64_t column) {
    const std::int64_t at = transposed ? row * layout.leading + column : column * layout.leading + row;
    const double value = load(data, layout.type, batch * layout.stride + at);
    return product.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? cuda_on_cpu::as_tf32(value) : value;
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
  const Parts parts(product.epilogue);
  for (std::int64_t i = 0; i < (parts.sum_a ? m : parts.sum_b ? n : 0); ++i) {
    double sum = 0;
    for (std::int64_t l = 0; l < k; ++l) {
      sum += parts.sum_a ? element(from_a, a, ta, 0, i, l) : element(from_b, b, tb, 0, l, i);
    }
    store(product.bias, d.type, i, sum);
  }
}

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
    return wrong("a scale that is neither float32 nor, for int32, int32");
  }
  *desc = reinterpret_cast<cublasLtMatmulDesc_t>(new Product{.compute = compute});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t matmul_desc_destroy(cublasLtMatmulDesc_t desc) {
  delete reinterpret_cast<Product*>(desc);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t matmul_desc_set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, const void* value,
                               std::size_t bytes) {
  auto& product = *reinterpret_cast<Product*>(desc);
  bool taken = false;
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA) taken = take(product.transpose_a, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSB) taken = take(product.transpose_b, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE) taken = take(product.epilogue, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER) taken = take(product.bias, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER) taken = take(product.aux, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD) taken = take(product.aux_leading, value, bytes);
  return taken ? CUBLAS_STATUS_SUCCESS : wrong("an attribute of a product of the wrong size, or not known here");
}

cublasStatus_t layout_create(cublasLtMatrixLayout_t* layout, cudaDataType type, std::uint64_t rows,
                             std::uint64_t columns, std::int64_t leading) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{.type = type, .rows = rows, .columns = columns, .leading = leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t layout_destroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<Layout*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t layout_set(cublasLtMatrixLayout_t handle, cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                          std::size_t bytes) {
  auto& layout = *reinterpret_cast<Layout*>(handle);
  bool taken = false;
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) taken = take(layout.batch, value, bytes);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) taken = take(layout.stride, value, bytes);
  return taken ? CUBLAS_STATUS_SUCCESS : wrong("an attribute of a layout of the wrong size, or not known here");
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
  return taken ? CUBLAS_STATUS_SUCCESS : wrong("a preference of the wrong size, or not known here");
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
  const auto& product = *reinterpret_cast<Product*>(desc);
  const auto& preference = *reinterpret_cast<Preference*>(preferred);
  const Layout& result = *reinterpret_cast<Layout*>(d);
  cublasStatus_t status = check_layouts(product, *reinterpret_cast<Layout*>(a), *reinterpret_cast<Layout*>(b), result);
  if (status == CUBLAS_STATUS_SUCCESS) status = check_epilogue(product, result);
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
                        .bias_alignment = alignment_of(product.bias),
                        .aux_alignment = alignment_of(product.aux)};
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
    return wrong("an algorithm's attribute");
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
  const Product product = *reinterpret_cast<Product*>(desc);
  const Layout layout_a = *reinterpret_cast<Layout*>(a_layout), layout_b = *reinterpret_cast<Layout*>(b_layout);
  const Layout layout_d = *reinterpret_cast<Layout*>(d_layout);
  cublasStatus_t status = check_layouts(product, layout_a, layout_b, layout_d);
  if (status == CUBLAS_STATUS_SUCCESS) status = check_epilogue(product, layout_d);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const auto number = [&](const void* at) {
    return product.compute == CUBLAS_COMPUTE_32I ? static_cast<float>(*static_cast<const std::int32_t*>(at))
                                                 : *static_cast<const float*>(at);
  };
  const float factor = number(beta);
  if (number(alpha) != 1 || (factor != 0 && factor != 1)) return wrong("alpha or beta");
  const Layout layout_c = *reinterpret_cast<Layout*>(c_layout);
  if (layout_c.leading != layout_d.leading || layout_c.stride != layout_d.stride) return wrong("a c unlike d");
  Algorithm algorithm;
  std::memcpy(static_cast<void*>(&algorithm), algo, sizeof algorithm);
  if (workspace_bytes < algorithm.workspace || (algorithm.workspace > 0 && workspace == nullptr)) {
    return wrong("too small a workspace");
  }
  // Where it is not, kernels of Hopper fail.
  if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0) return wrong("a workspace that is not aligned to 256");
  const void* const memory[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) {
    if (reinterpret_cast<std::uintptr_t>(memory[i]) % algorithm.alignment[i] != 0) return wrong("an alignment broken");
  }
  const Parts parts(product.epilogue);
  if ((parts.has_vector() && alignment_of(product.bias) < algorithm.bias_alignment) ||
      (parts.aux && alignment_of(product.aux) < algorithm.aux_alignment)) {
    return wrong("an epilogue's memory that is aligned less than when the algorithm was asked for");
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
