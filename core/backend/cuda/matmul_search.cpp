#include "core/backend/cuda/matmul_search.h"

#include <algorithm>

#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/matmul_descriptors.h"
#include "core/backend/cuda/search.h"

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

}  // namespace

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

}  // namespace gpubench::cuda
