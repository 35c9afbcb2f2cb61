// Chooses the cuDNN engine of each problem once per device and remembers it for all kernels, because building an engine
// may compile it, and candidates are timed: cuDNN orders its proposals for callers without our rules.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/backend/cuda/attention_graph.h"
#include "core/backend/cuda/conv_problem.h"
#include "core/backend/cuda/cudnn_plan.h"

namespace gpubench::cuda {

class CudaDevice;

struct EngineChoice {
  std::shared_ptr<const CudnnPlan> plan;  ///< nullptr if no engine can be used
  std::string why_not;
};

/// Ignores `activation_behind`.
EngineChoice choose_engine(CudaDevice& device, const ConvolutionProblem& problem);
/// cuDNN's gradient in a fixed order keeps a matrix of weights per head in its workspace. It is taken only where that
/// is at most four times the op's tensors, so that memory stays linear in the length of the sequence.
EngineRules attention_rules(const AttentionProblem& problem, std::size_t memory_bytes);
/// Without cuDNN, and where cuDNN refuses the graph, no engine can be used.
EngineChoice choose_engine(CudaDevice& device, const AttentionProblem& problem);

template <class Problem>
class EnginePlans {
 public:
  explicit EnginePlans(CudaDevice& device) : device_(device) {}

  /// Thread-safe; the returned reference stays valid.
  const EngineChoice& find(const Problem& problem) {
    const std::lock_guard lock(mutex_);
    auto known = chosen_.find(problem);
    if (known == chosen_.end()) known = chosen_.emplace(problem, choose_engine(device_, problem)).first;
    return known->second;
  }
  /// The problems that find() has answered.
  std::vector<Problem> known() {
    const std::lock_guard lock(mutex_);
    std::vector<Problem> problems;
    for (const auto& [problem, choice] : chosen_) problems.push_back(problem);
    return problems;
  }

 private:
  CudaDevice& device_;
  std::mutex mutex_;
  std::map<Problem, EngineChoice> chosen_;
};

}  // namespace gpubench::cuda
