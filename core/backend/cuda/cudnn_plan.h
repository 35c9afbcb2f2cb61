// Engines for a graph. cuDNN proposes engines, the one that it expects to be fastest first. Those that obey our rules,
// can be built and fit into the workspace limit are candidates; engine_plans.h chooses among them.
#pragma once
#include <cstddef>
#include <memory>
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

/// Whether an engine with these notes is allowed: it sums in float32 and in the same order in every run, and rounds
/// float32 only where TF32 is allowed.
bool keeps_rules(const EngineRules& rules, std::span<const cudnnBackendNumericalNote_t> notes);

/// The workspace limit of one kernel on a device that may take this much memory.
std::size_t workspace_limit(std::size_t memory_bytes);

/// An engine for a graph; kernels may share it.
class CudnnPlan {
 public:
  /// At most `most` engines, in cuDNN's order. Returns nothing if no engine is left; `why_not` then says why the last
  /// one was refused. The handle must be locked.
  static std::vector<std::shared_ptr<const CudnnPlan>> candidates(CudnnGraph graph, CudnnHandle& handle,
                                                                  const EngineRules& rules, std::size_t most,
                                                                  std::string& why_not);

  /// "engine 42 (k8=2 k21=1)": candidates are mostly one engine with other knobs, by cuDNN's numbers of their types.
  const std::string& name() const { return name_; }
  std::int64_t engine() const { return engine_; }
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// Whether cuDNN proposed the engine only as a fallback: one that computes every graph of the kind, mostly slowly.
  bool is_fallback() const { return is_fallback_; }

 private:
  friend class CudnnRun;
  CudnnPlan(CudnnHandle& handle, BackendDescriptor plan, std::int64_t engine, std::size_t workspace_bytes);

  CudnnHandle* handle_;
  std::shared_ptr<const CudnnGraph> graph_;  // the plan refers to it
  std::optional<BackendDescriptor> configuration_;
  BackendDescriptor plan_;
  std::int64_t engine_;
  std::string name_;
  std::size_t workspace_bytes_;
  bool is_fallback_ = false;
};

/// One kernel's use of a plan; keeps the memory pack between runs.
class CudnnRun {
 public:
  explicit CudnnRun(std::shared_ptr<const CudnnPlan> plan) : plan_(std::move(plan)) {}

  const CudnnPlan& plan() const { return *plan_; }
  /// `memory`: one pointer for each of CudnnGraph::ids.
  void run(cudaStream_t stream, std::span<void* const> memory, void* workspace);

 private:
  /// Builds a variant pack. A finalized pack cannot be changed, so other memory needs a new one.
  void pack(std::span<void* const> memory, void* workspace);

  std::shared_ptr<const CudnnPlan> plan_;
  /// The pack of the last run: most runs use the same memory.
  std::optional<BackendDescriptor> pack_;
  std::vector<void*> packed_;
};

}  // namespace gpubench::cuda
