#include "core/backend/cuda/engine_plans.h"

#include <algorithm>
#include <span>

#include "core/backend/cuda/convolution_graph.h"
#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/search.h"
#include "core/base/error.h"

namespace gpubench::cuda {
namespace {

/// 9.19.0: earlier versions have known faults in gradients and in lengths that are no multiple of their tiles.
constexpr std::size_t first_cudnn_with_attention = 91900;

/// What a run takes, in the order of CudnnGraph::ids.
struct Operand {
  FourExtents dimensions;
  Dtype dtype;

  std::size_t bytes() const {
    std::size_t bytes = size_of(dtype);
    for (const std::int64_t extent : dimensions) bytes *= static_cast<std::size_t>(extent);
    return bytes;
  }
};

std::size_t fastest_engine(CudaDevice& device, std::span<const std::shared_ptr<const CudnnPlan>> candidates,
                           std::span<const Operand> operands) {
  try {
    std::vector<Buffer> buffers;
    std::vector<void*> memory;
    for (const Operand& operand : operands) {
      memory.push_back(buffers.emplace_back(random_buffer(device, operand.bytes(), operand.dtype)).data());
    }
    std::size_t most = 0;
    for (const auto& candidate : candidates) most = std::max(most, candidate->workspace_bytes());
    const Buffer workspace = device.memory().allocate(most, "search of algorithms");
    std::vector<CudnnRun> runs(candidates.begin(), candidates.end());
    return fastest(device, candidates.size(),
                   [&](std::size_t i) { runs[i].run(handle_of(device.stream()), memory, workspace.data()); });
  } catch (const OutOfMemory&) {
    return 0;  // a GPU this full trains with the engine that cuDNN expects to be fastest
  }
}

using EngineCandidates = std::vector<std::shared_ptr<const CudnnPlan>>;

EngineRules engine_rules(const CudaDevice& device, Dtype dtype) {
  return {.dtype = dtype, .tf32 = device.allows_tf32(), .workspace_limit = workspace_limit(device.memory_bytes())};
}

template <class Graph>
EngineCandidates engine_candidates(CudaDevice& device, const EngineRules& rules, const Graph& graph,
                                   std::string& why_not) {
  constexpr std::size_t most = 6;
  CudnnHandle& handle = device.cudnn();
  const auto lock = handle.lock();
  return CudnnPlan::candidates(graph(handle.handle()), handle, rules, most, why_not);
}

/// The one that is taken, if there is one.
std::shared_ptr<const CudnnPlan> engine_among(CudaDevice& device, const EngineCandidates& candidates,
                                              std::span<const Operand> operands) {
  if (candidates.empty()) return nullptr;
  return candidates[candidates.size() == 1 ? 0 : fastest_engine(device, candidates, operands)];
}

std::vector<Operand> attention_operands(const AttentionProblem& p) {
  const Operand q{{p.batch, p.heads, p.queries, p.dim}, p.dtype}, k{{p.batch, p.groups, p.keys, p.dim}, p.dtype};
  const Operand v{{p.batch, p.groups, p.keys, p.value_dim}, p.dtype};
  const Operand out{{p.batch, p.heads, p.queries, p.value_dim}, p.dtype};
  const Operand rows{{p.batch, p.heads, p.queries, 1}, Dtype::f32};
  if (!p.gradient) return {q, k, v, out, rows};
  return {q, k, v, out, rows, out, rows, q, k, v};
}

}  // namespace

EngineChoice choose_engine(CudaDevice& device, const ConvolutionProblem& problem) {
  std::vector<Operand> operands;
  for (const FourExtents& dimensions : {problem.image, problem.filter, problem.result}) {
    operands.push_back({dimensions, problem.dtype});
  }
  if (problem.bias) operands.push_back({{1, problem.result[1], 1, 1}, problem.dtype});
  EngineChoice choice;
  const auto graph = [&](cudnnHandle_t handle) { return convolution_graph(problem, handle); };
  choice.plan = engine_among(
      device, engine_candidates(device, engine_rules(device, problem.dtype), graph, choice.why_not), operands);
  return choice;
}

EngineChoice choose_engine(CudaDevice& device, const AttentionProblem& problem) {
  EngineCandidates candidates;
  EngineChoice choice;
  try {
    if (cudnn().get_version() < first_cudnn_with_attention) {
      return {nullptr, "cuDNN 9.19 is the first whose engines of attention are known to keep our rules"};
    }
    const auto graph = [&](cudnnHandle_t handle) { return attention_graph(problem, handle); };
    candidates = engine_candidates(device, engine_rules(device, problem.dtype), graph, choice.why_not);
  } catch (const DeviceLost&) {
    throw;
  } catch (const Error& error) {
    choice.why_not = error.what();
  }
  choice.plan = engine_among(device, candidates, attention_operands(problem));
  return choice;
}

}  // namespace gpubench::cuda
