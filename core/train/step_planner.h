// Plans the steps of a compiled model: their graphs, the layers to recompute, and the executors that run them. Training
// steps are also planned without memory, to choose those layers and to predict the memory of a step.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/exec/plan/plan_memory.h"
#include "core/train/compile_config.h"
#include "core/train/step_graph.h"
#include "core/train/step_loop.h"

namespace gpubench {

enum class StepPhase : std::uint8_t { training, evaluation, prediction };

/// The script's own step of a phase; null for the one that compile describes.
CustomStepPtr custom_step(const CompileConfig& config, StepPhase phase);

/// No choice of layers fits a step into recompute_budget.
class OverRecomputeBudget : public Error {
 public:
  using Error::Error;
};

/// What is planned; the model has been built. Refers to all three.
class StepPlanner {
 public:
  StepPlanner(Runtime& runtime, const Model& model, const CompileConfig& config)
      : runtime_(runtime), model_(model), config_(config) {}

  /// The plan for elements of these types, on `device` or in host memory (nullptr). `metrics` may be null for
  /// predictions and custom steps. Throws as recomputed_within().
  std::unique_ptr<StepPlan> plan(StepPhase phase, const StepKey& key, const DeviceId* device,
                                 const MetricStates* metrics) const;

  /// The configuration with the layers chosen by choose_recomputed() for its recompute_budget and such batches;
  /// unchanged without a budget. Throws Error for a budget with eager execution, and OverRecomputeBudget.
  CompileConfig recomputed_within(TensorTypes element) const;

  /// The memory of a training step on batches of these types (in host memory), by device. Throws as
  /// recomputed_within(), and Error for eager execution.
  std::vector<DeviceMemory> training_memory(TensorTypes element) const;

  /// Memory is planned in graph execution only: throws Error for eager execution.
  void require_graph() const;

 private:
  struct DryStep;
  struct DryPlan;

  StepGraph graph(StepPhase phase, const CompileConfig& config, const MetricStates* metrics,
                  const std::vector<TensorType>& element, const std::optional<BatchShare>& share) const;
  std::unique_ptr<Executor> executor(StepPhase phase, StepPlan& plan, const MetricStates* metrics,
                                     const ExecutorOptions& options) const;
  std::unique_ptr<Executor> replicated(StepPhase phase, StepPlan& plan, const CompileConfig& config,
                                       const MetricStates* metrics, const ExecutorOptions& options) const;
  DryStep dry_step(CompileConfig config, TensorTypes element, const std::optional<BatchShare>& share = {}) const;
  DryPlan dry_plan(CompileConfig asked, TensorTypes element) const;

  Runtime& runtime_;
  const Model& model_;
  const CompileConfig& config_;
};

}  // namespace gpubench
