// The runs whose files are not finished yet, for a thread that ends the program in the middle of a script.
#pragma once
#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gpubench {

/// How a run ends while its script cannot be asked.
struct GivenUp {
  /// Of run.json: "error" or "interrupted", and why.
  std::string status, detail;
  /// Of the row of the point that is measured; no row without it.
  std::optional<std::string> timeout;
};

class UnfinishedRun {
 public:
  virtual ~UnfinishedRun() = default;
  /// Writes what is left to write, and lets no other thread write again. What to tell the user, in lines.
  virtual std::string give_up(const GivenUp& how) noexcept = 0;
};

class UnfinishedRuns {
 public:
  void add(UnfinishedRun* run) {
    const std::lock_guard lock(mutex_);
    runs_.push_back(run);
  }
  void remove(UnfinishedRun* run) {
    const std::lock_guard lock(mutex_);
    std::erase(runs_, run);
  }
  /// The last that was begun first: the point that is measured is its. The process must end then.
  std::string give_up(const GivenUp& how) {
    mutex_.lock();  // for ever: no run is destroyed any more
    std::string text;
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) text += (*run)->give_up(how);
    return text;
  }

 private:
  std::mutex mutex_;
  std::vector<UnfinishedRun*> runs_;
};

}  // namespace gpubench
