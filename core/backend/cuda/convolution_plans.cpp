#include "core/backend/cuda/convolution_plans.h"

#include "core/backend/cuda/cuda_device.h"

namespace gpubench::cuda {

const ConvolutionPlans::Choice& ConvolutionPlans::find(ConvolutionProblem problem) {
  problem.activation_behind = Activation::none;
  const std::lock_guard lock(mutex_);
  auto known = chosen_.find(problem);
  if (known == chosen_.end()) known = chosen_.emplace(problem, choose(problem)).first;
  return known->second;
}

ConvolutionPlans::Choice ConvolutionPlans::choose(const ConvolutionProblem& problem) const {
  const EngineRules rules{.dtype = problem.dtype,
                          .tf32 = device_.allows_tf32(),
                          .workspace_limit = workspace_limit(device_.properties().memory_bytes)};
  CudnnHandle& handle = device_.cudnn();
  const auto lock = handle.lock();
  Choice choice;
  if (auto plan = CudnnPlan::choose(convolution_graph(problem, handle.handle()), handle, rules, choice.why_not)) {
    choice.plan = std::make_shared<const CudnnPlan>(*std::move(plan));
  }
  return choice;
}

}  // namespace gpubench::cuda
