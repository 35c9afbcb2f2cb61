// The engine that runs a graph: cuDNN proposes engines, best first, and the first that keeps our rules, can be built
// and fits into the workspace is taken. Nothing is measured, so that the same graph gets the same engine in every run.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/backend/cuda/cudnn_graph.h"

namespace gpubench::cuda {

struct EngineRules {
  Dtype dtype = Dtype::f32;
  /// float32 may be multiplied as TF32.
  bool tf32 = false;
  std::size_t workspace_limit = 0;
};

/// Whether an engine with these notes may run: sums are in float32 and in the same order in every run, and float32 is
/// rounded only where TF32 is allowed.
bool keeps_rules(const EngineRules& rules, std::span<const cudnnBackendNumericalNote_t> notes);

/// The workspace that one kernel may have on a GPU with so much memory.
std::size_t workspace_limit(std::size_t memory_bytes);

/// What was chosen for a graph; kernels may share it.
class CudnnPlan {
 public:
  /// Nothing where no engine is left; `why_not` then says what the last one lacked.
  static std::optional<CudnnPlan> choose(CudnnGraph graph, CudnnHandle& handle, const EngineRules& rules,
                                         std::string& why_not);

  std::int64_t engine() const { return engine_; }
  std::size_t workspace_bytes() const { return workspace_bytes_; }

 private:
  friend class CudnnRun;
  CudnnPlan(CudnnHandle& handle, BackendDescriptor plan, std::int64_t engine, std::size_t workspace_bytes);

  CudnnHandle* handle_;
  std::optional<CudnnGraph> graph_;  // the plan refers to it
  std::optional<BackendDescriptor> configuration_;
  BackendDescriptor plan_;
  std::int64_t engine_;
  std::size_t workspace_bytes_;
};

/// One kernel's use of a plan.
class CudnnRun {
 public:
  explicit CudnnRun(std::shared_ptr<const CudnnPlan> plan) : plan_(std::move(plan)) {}

  const CudnnPlan& plan() const { return *plan_; }
  /// `memory` belongs to CudnnGraph::ids, one each.
  void run(cudaStream_t stream, std::span<void* const> memory, void* workspace);

 private:
  /// A pack cannot be changed once it is finalized: other memory takes a new one.
  void pack(std::span<void* const> memory, void* workspace);

  std::shared_ptr<const CudnnPlan> plan_;
  /// The memory of the last run, as cuDNN wants it: most runs have the same.
  std::optional<BackendDescriptor> pack_;
  std::vector<void*> packed_;
};

class CudaDevice;

/// Which engine computes a convolution on one device: chosen once and remembered for all kernels of the device, since
/// building an engine may compile it.
class ConvolutionPlans {
 public:
  explicit ConvolutionPlans(CudaDevice& device) : device_(device) {}

  struct Choice {
    std::shared_ptr<const CudnnPlan> plan;  ///< nullptr where no engine is left
    std::string why_not;
  };
  /// What runs behind the problem's graph does not matter. Any thread may call it; what it returns stays.
  const Choice& find(ConvolutionProblem problem);

 private:
  Choice choose(const ConvolutionProblem& problem) const;

  CudaDevice& device_;
  std::mutex mutex_;
  std::map<ConvolutionProblem, Choice> chosen_;
};

}  // namespace gpubench::cuda
