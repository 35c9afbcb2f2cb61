// A thread of a pipeline whose times others may ask for: what it computed, and how long it was ready but had no core.
// What is left of a stage's time it really waited, which tells a slow disk from a busy machine.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <sys/types.h>
#include <thread>

#include "core/base/clock.h"

namespace gpubench {

struct ThreadTimes {
  Seconds cpu{};
  Seconds ready{};  ///< waited for a core; 0 where the kernel does not tell
  ThreadTimes& operator+=(const ThreadTimes& other) {
    cpu += other.cpu;
    ready += other.ready;
    return *this;
  }
};

/// So far; zeros where the kernel does not tell.
ThreadTimes times_of_this_thread();

class WatchedThread {
 public:
  explicit WatchedThread(std::function<void()> body);
  WatchedThread(WatchedThread&&) = default;
  WatchedThread& operator=(WatchedThread&&) = default;
  ~WatchedThread() = default;

  void join() { thread_.join(); }
  /// Any thread may ask, before the join. A thread that has ended keeps its last times.
  ThreadTimes times() const;

 private:
  struct Shared {
    std::atomic<pid_t> id{0};
    std::atomic<bool> ended{false};
    ThreadTimes last;  // once ended
  };
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace gpubench
