#include "core/backend/cuda/matmul_algorithms.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>
#include <vector>

#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/device_choices.h"
#include "core/backend/cuda/matmul_descriptors.h"
#include "core/backend/cuda/search.h"
#include "core/base/error.h"

namespace gpubench::cuda {
namespace {

std::size_t bytes_of(const MatrixShape& shape, const MatmulProblem& problem, Dtype dtype) {
  const std::int64_t elements = shape.rows * shape.columns + (problem.batch - 1) * shape.batch_stride;
  return static_cast<std::size_t>(elements) * size_of(dtype);
}

/// A vector along either side of the result.
std::size_t vector_bytes(const MatmulProblem& problem) {
  if (!problem.vector) return 0;
  return static_cast<std::size_t>(std::max(problem.result.rows, problem.result.columns)) * size_of(problem.dtype);
}

/// Sized as elements, which is more than a bit mask needs.
std::size_t aux_bytes(const MatmulProblem& problem) {
  return static_cast<std::size_t>(problem.aux_leading * problem.result.columns) * size_of(problem.dtype);
}

double flops_of(const MatmulProblem& problem) {
  const std::int64_t terms = problem.transpose_left ? problem.left.rows : problem.left.columns;
  return 2.0 * static_cast<double>(problem.batch) * static_cast<double>(problem.result.rows) *
         static_cast<double>(problem.result.columns) * static_cast<double>(terms);
}

/// The index of the candidate with the lowest median of several runs (ties: the first). Allocates the problem's memory
/// from the device's pool while it runs; throws OutOfMemory. Blocks until the device's stream is idle.
std::size_t fastest_matmul(CudaDevice& device, const MatmulProblem& problem,
                           std::span<const MatmulAlgorithm> candidates) {
  const Dtype dtype = problem.dtype;
  const Buffer left = random_buffer(device, bytes_of(problem.left, problem, dtype), dtype);
  const Buffer right = random_buffer(device, bytes_of(problem.right, problem, dtype), dtype);
  const Buffer result =
      device.memory().allocate(bytes_of(problem.result, problem, result_type(problem)), "matmul search");
  const Buffer vector = random_buffer(device, vector_bytes(problem), dtype);
  const Buffer aux = random_buffer(device, aux_bytes(problem), dtype);
  std::size_t most = 0;
  for (const MatmulAlgorithm& candidate : candidates) most = std::max(most, candidate.workspace_bytes);
  const Buffer workspace = device.memory().allocate(most, "matmul search");

  MatmulDescriptors descriptors(problem);
  descriptors.set_epilogue(vector.data(), aux.data());
  return fastest(device, candidates.size(), [&](std::size_t i) {
    const MatmulMemory memory{
        left.data(), right.data(), result.data(), {workspace.data(), candidates[i].workspace_bytes}};
    multiply(device.cublaslt(), descriptors, candidates[i].algorithm, memory, handle_of(device.stream()));
  });
}

/// An address aligned as a tensor's is at least, and no better.
const void* address_of_a_tensor() {
  alignas(128) static constexpr std::array<std::byte, 128> memory{};
  return memory.data() + tensor_alignment;
}

/// How parts of a split sum may be added: in float32 at least (docs/decisions/float32_sums.md). cuBLASLt also adds them
/// in the type of the result, which in float32 and int32 is the type of the sum. NONE is 0, and always allowed.
std::uint32_t allowed_reductions(const MatmulProblem& problem) {
  return size_of(result_type(problem)) < size_of(Dtype::f32) ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                                                             : CUBLASLT_REDUCTION_SCHEME_MASK;
}

/// All but sums in float16, and for strict float32 all but factors in fewer bits, which NVIDIA_TF32_OVERRIDE=1 and
/// cuBLAS' emulation of float32 would take.
cublasLtNumericalImplFlags_t allowed_implementations(const MatmulProblem& problem) {
  cublasLtNumericalImplFlags_t forbidden = CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_16F;
  if (problem.dtype == Dtype::f32) {
    forbidden |= CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF;
    if (!problem.tf32) forbidden |= CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32;
  }
  return ~forbidden;
}

MatmulPreference preference_of(const MatmulProblem& problem) {
  cublasLtMatmulPreference_t made = nullptr;
  check(cublaslt().preference_create(&made), "cublasLtMatmulPreferenceCreate");
  MatmulPreference preference(made);
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    check(cublaslt().preference_set_attribute(made, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{problem.workspace_limit});
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, allowed_reductions(problem));
  prefer(CUBLASLT_MATMUL_PREF_IMPL_MASK, allowed_implementations(problem));
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    prefer(attribute, problem.alignment);
  }
  return preference;
}

std::string_view reduction_text(std::uint32_t scheme) {
  switch (scheme) {
    case CUBLASLT_REDUCTION_SCHEME_NONE:
      return "";
    case CUBLASLT_REDUCTION_SCHEME_INPLACE:
      return " split, added in place";
    case CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE:
      return " split, added in the type of sums";
    case CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE:
      return " split, added in the type of results";
    default:
      return " split";
  }
}

MatmulAlgorithm algorithm_of(const cublasLtMatmulHeuristicResult_t& proposal) {
  MatmulAlgorithm result{.algorithm = proposal.algo, .workspace_bytes = proposal.workspaceSize};
  const auto get = [&](cublasLtMatmulAlgoConfigAttributes_t attribute, auto value) {
    std::size_t written = 0;
    check(cublaslt().algo_config_get_attribute(&result.algorithm, attribute, &value, sizeof value, &written),
          "cublasLtMatmulAlgoConfigGetAttribute");
    return value;
  };
  const auto id = get(CUBLASLT_ALGO_CONFIG_ID, std::int32_t{});
  const auto reduction = get(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, std::uint32_t{});
  result.name = fmt::format("cublaslt:{}{}", id, reduction_text(reduction));
  return result;
}

/// At most `count`, best first as the library estimates them.
std::vector<MatmulAlgorithm> proposed_algorithms(cublasLtHandle_t handle, const MatmulProblem& problem, int count) {
  MatmulDescriptors descriptors(problem);
  // The library takes the alignment of the epilogue's memory from its address, even where it reads none (cublasLt.h).
  const void* const address = address_of_a_tensor();
  descriptors.set_epilogue(problem.vector ? address : nullptr, problem.aux_leading > 0 ? address : nullptr);
  const MatmulPreference preference = preference_of(problem);
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(count));
  int filled = 0;
  const cublasStatus_t status = cublaslt().get_heuristic(
      handle, descriptors.product(), descriptors.left(), descriptors.right(), descriptors.result(),
      descriptors.result(), preference.get(), count, found.data(), &filled);
  // Types and epilogues that do not go together are the latter.
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return {};
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  found.resize(static_cast<std::size_t>(filled));
  std::vector<MatmulAlgorithm> result;
  for (const cublasLtMatmulHeuristicResult_t& proposal : found) {
    if (proposal.state == CUBLAS_STATUS_SUCCESS) result.push_back(algorithm_of(proposal));
  }
  return result;
}

}  // namespace

std::optional<MatmulAlgorithm> choose_algorithm(CudaDevice& device, const MatmulProblem& problem) {
  const std::optional<int> asked = device.matmul_search();
  const int search = asked.value_or(flops_of(problem) < small_product_flops ? default_matmul_search : 0);
  std::vector<MatmulAlgorithm> candidates = proposed_algorithms(device.cublaslt(), problem, std::max(1, search));
  if (candidates.empty()) return std::nullopt;
  if (candidates.size() == 1) return std::move(candidates.front());
  std::size_t best = 0;
  try {
    best = fastest_matmul(device, problem, candidates);
  } catch (const OutOfMemory&) {
    if (asked) throw;
    return std::move(candidates.front());
  }
  MatmulAlgorithm fastest = std::move(candidates[best]);
  fastest.name += " searched";
  return fastest;
}

const MatmulAlgorithm* algorithm_for(CudaDevice& device, const MatmulProblem& problem) {
  const auto& chosen = device.choices().algorithms.find(problem, [&] { return choose_algorithm(device, problem); });
  return chosen ? &*chosen : nullptr;
}

}  // namespace gpubench::cuda
