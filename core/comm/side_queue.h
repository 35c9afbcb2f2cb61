// The collectives that one rank has begun beside its kernels. They run one after the other: on the queue's thread, or
// on the rank's own thread when it has nothing to do but wait for them.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "core/comm/waitable_count.h"

namespace gpubench {

class SideQueue {
 public:
  /// A work item that can be queued repeatedly.
  struct Work {
    std::function<void(Clock::duration spin)> carry_out;
    bool queued = false, running = false;  // guarded by the queue's mutex
    std::exception_ptr failure;
  };

  SideQueue() = default;
  /// Waits for running work; drops the rest.
  ~SideQueue();
  SideQueue(const SideQueue&) = delete;
  SideQueue& operator=(const SideQueue&) = delete;

  /// Starts the thread at the first call.
  void push(Work& work);
  /// Blocks until `work` is done and rethrows its exception.
  void finish(Work& work);
  /// Blocks until all pushed work is done.
  void drain();
  /// Removes `work` from the queue; blocks while it is running. True if it had not started.
  bool withdraw(Work& work);

 private:
  void serve();
  void take_one(std::unique_lock<std::mutex>& lock, Clock::duration spin);
  template <class Over>
  void help_until(std::unique_lock<std::mutex>& lock, const Over& over);

  std::mutex mutex_;
  std::condition_variable pushed_;
  std::deque<Work*> queue_;
  bool busy_ = false, stopping_ = false;
  std::uint32_t ended_count_ = 0;  // guarded; the value of `ended_`
  WaitableCount ended_;            // work items that have ended
  std::thread thread_;
};

}  // namespace gpubench
