#include "core/backend/cuda/matmul_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/matmul_descriptors.h"
#include "core/math/half.h"
#include "core/math/philox.h"

namespace gpubench::cuda {
namespace {

/// Times taken of each candidate, after one that loads its code; odd, so that the median is one of them.
constexpr std::size_t rounds = 9;
/// Random numbers that are drawn; larger matrices repeat them.
constexpr std::size_t drawn = std::size_t{1} << 18;

std::size_t bytes_of(const MatrixShape& shape, const MatmulProblem& problem, Dtype dtype) {
  const std::int64_t elements = shape.rows * shape.columns + (problem.batch - 1) * shape.batch_stride;
  return static_cast<std::size_t>(elements) * size_of(dtype);
}

template <class T, class Round>
void fill(std::vector<std::byte>& bytes, const Round& round) {
  auto* const values = reinterpret_cast<T*>(bytes.data());
  for (std::size_t i = 0; i < drawn; ++i) values[i] = round(2 * math::to_uniform(math::philox(1, 0, i).word[0]) - 1);
}

/// Uniform in [-1, 1); as int8 in all of it.
std::vector<std::byte> random_values(Dtype dtype) {
  std::vector<std::byte> bytes(drawn * size_of(dtype));
  if (dtype == Dtype::f16) {
    fill<math::Float16>(bytes, [](float x) { return math::to_float16(x); });
  } else if (dtype == Dtype::bf16) {
    fill<math::Bfloat16>(bytes, [](float x) { return math::to_bfloat16(x); });
  } else if (dtype == Dtype::i8) {
    fill<std::int8_t>(bytes, [](float x) { return static_cast<std::int8_t>(127 * x); });
  } else {
    fill<float>(bytes, [](float x) { return x; });
  }
  return bytes;
}

/// The matrices of a problem, in memory of their own.
class Scratch {
 public:
  Scratch(CudaDevice& device, const MatmulProblem& problem, std::size_t workspace)
      : left_(device.memory().allocate(bytes_of(problem.left, problem, problem.dtype), "matmul search")),
        right_(device.memory().allocate(bytes_of(problem.right, problem, problem.dtype), "matmul search")),
        result_(device.memory().allocate(bytes_of(problem.result, problem, result_type(problem)), "matmul search")),
        vector_(device.memory().allocate(vector_bytes(problem), "matmul search")),
        aux_(device.memory().allocate(aux_bytes(problem), "matmul search")),
        workspace_(device.memory().allocate(workspace, "matmul search")) {
    const std::vector<std::byte> values = random_values(problem.dtype);
    for (const Buffer* matrix : {&left_, &right_, &vector_, &aux_}) {
      for (std::size_t at = 0; at < matrix->bytes(); at += values.size()) {
        device.stream().copy(matrix->data() + at, values.data(), std::min(values.size(), matrix->bytes() - at));
      }
    }
    device.stream().synchronize();  // the values go
  }

  MatmulMemory memory(std::size_t workspace) const {
    return {left_.data(), right_.data(), result_.data(), {workspace_.data(), workspace}};
  }
  const void* vector() const { return vector_.data(); }
  const void* aux() const { return aux_.data(); }

 private:
  /// A vector along either side of the result.
  static std::size_t vector_bytes(const MatmulProblem& problem) {
    if (!problem.vector) return 0;
    return static_cast<std::size_t>(std::max(problem.result.rows, problem.result.columns)) * size_of(problem.dtype);
  }

  /// Sized as elements, which is more than a bit mask needs.
  static std::size_t aux_bytes(const MatmulProblem& problem) {
    return static_cast<std::size_t>(problem.aux_leading * problem.result.columns) * size_of(problem.dtype);
  }

  Buffer left_, right_, result_, vector_, aux_, workspace_;
};

/// Runs in a row, so that what the host takes to start one hides behind the one before.
int group_for(Seconds one) {
  constexpr Seconds long_enough{200e-6};
  constexpr double most = 64;
  return static_cast<int>(std::clamp(std::ceil(long_enough / std::max(one, Seconds(1e-9))), 1.0, most));
}

}  // namespace

std::size_t fastest_matmul(CudaDevice& device, const MatmulProblem& problem,
                           std::span<const MatmulAlgorithm> candidates) {
  std::size_t workspace = 0;
  for (const MatmulAlgorithm& candidate : candidates) workspace = std::max(workspace, candidate.workspace_bytes);
  const Scratch scratch(device, problem, workspace);
  MatmulDescriptors descriptors(problem);
  descriptors.set_epilogue(scratch.vector(), scratch.aux());

  use_gpu(device.physical());
  Stream& stream = device.stream();
  const std::unique_ptr<Event> before = device.new_event(), after = device.new_event();
  const auto time_of = [&](const MatmulAlgorithm& candidate, int group) {
    stream.record(*before);
    for (int run = 0; run < group; ++run) {
      multiply(device.cublaslt(), descriptors, candidate.algorithm, scratch.memory(candidate.workspace_bytes),
               handle_of(stream));
    }
    stream.record(*after);
    after->wait();
    return after->since(*before) / group;
  };
  std::vector<int> groups;
  for (const MatmulAlgorithm& candidate : candidates) {
    static_cast<void>(time_of(candidate, 1));  // loads the kernel
    groups.push_back(group_for(time_of(candidate, 1)));
  }
  std::vector<std::array<Seconds, rounds>> times(candidates.size());
  // Round by round, so that a clock that rises or falls meanwhile does so for all of them.
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) times[i][round] = time_of(candidates[i], groups[i]);
  }
  std::vector<Seconds> medians;
  for (auto& of_one : times) {
    std::nth_element(of_one.begin(), of_one.begin() + rounds / 2, of_one.end());
    medians.push_back(of_one[rounds / 2]);
  }
  return static_cast<std::size_t>(std::min_element(medians.begin(), medians.end()) - medians.begin());
}

}  // namespace gpubench::cuda
