// What is chosen once for each problem on a device, because choosing may time candidates or compile, and remembered for
// all kernels, so that eager execution and new plans do not choose again.
#pragma once
#include <map>
#include <mutex>
#include <vector>

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

}  // namespace gpubench::cuda
