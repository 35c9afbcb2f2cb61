// What is chosen on a device once for each problem: see the functions that choose.
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/backend/cuda/engine_plans.h"
#include "core/backend/cuda/matmul_algorithms.h"

namespace gpubench::cuda {

template <class Problem, class Choice>
class Choices {
 public:
  /// `choose()` makes the Choice of a new problem. Thread-safe; the returned reference stays valid. What `choose`
  /// throws leaves the problem new.
  template <class Choose>
  const Choice& find(const Problem& problem, const Choose& choose) {
    const std::lock_guard lock(mutex_);
    const auto known = chosen_.find(problem);
    return known != chosen_.end() ? known->second : chosen_.emplace(problem, choose()).first->second;
  }

  /// The problems that find() has answered.
  std::vector<Problem> known() {
    const std::lock_guard lock(mutex_);
    std::vector<Problem> problems;
    for (const auto& [problem, choice] : chosen_) problems.push_back(problem);
    return problems;
  }

 private:
  std::mutex mutex_;
  std::map<Problem, Choice> chosen_;
};

struct DeviceChoices {
  Choices<MatmulProblem, std::optional<MatmulAlgorithm>> algorithms;  ///< choose_algorithm()
  Choices<MatmulProblem, bool> faster_sums;                           ///< sums_faster()
  Choices<ConvolutionProblem, EngineChoice> convolutions;             ///< choose_engine()
  Choices<AttentionProblem, EngineChoice> attentions;                 ///< choose_engine()
};

}  // namespace gpubench::cuda
