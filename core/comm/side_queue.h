// The collectives that one rank has begun beside its kernels, carried out one after the other: by a thread of the
// queue, or by the rank's own thread when that has nothing left to do but wait for them.
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
  /// A piece of work, queued again and again.
  struct Work {
    std::function<void(Clock::duration spin)> carry_out;
    bool queued = false, running = false;  // guarded by the queue
    std::exception_ptr failure;
  };

  SideQueue() = default;
  /// Waits for what is running; the rest is not carried out.
  ~SideQueue();
  SideQueue(const SideQueue&) = delete;
  SideQueue& operator=(const SideQueue&) = delete;

  /// Starts the thread at the first call.
  void push(Work& work);
  /// Blocks until `work` is done and throws what it threw.
  void finish(Work& work);
  /// Blocks until all that was pushed is done.
  void drain();
  /// Blocks while `work` is running. True when it was taken out of the queue undone.
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
  std::uint32_t ended_count_ = 0;  // guarded; what `ended_` counts
  WaitableCount ended_;            // works that have ended
  std::thread thread_;
};

}  // namespace gpubench
