// A count that other threads wait for.
#pragma once
#include <atomic>

namespace gpubench {

class AwaitedCount {
 public:
  void add() {
    ++count_;
    count_.notify_all();
  }
  void await(int count) const {
    for (int now = count_; now < count; now = count_) count_.wait(now);
  }
  int now() const { return count_; }

 private:
  std::atomic<int> count_ = 0;
};

}  // namespace gpubench
