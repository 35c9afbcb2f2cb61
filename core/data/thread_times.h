// A thread of a pipeline, with the time that it computed and the time that it was ready to run but had no core. The
// rest of a stage's time is real waiting. This separates a slow disk from a busy machine.
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
  Seconds ready{};  ///< waited for a core; 0 where the kernel does not report it
  ThreadTimes& operator+=(const ThreadTimes& other) {
    cpu += other.cpu;
    ready += other.ready;
    return *this;
  }
};

/// Since the thread's start; zeros where the kernel does not report them.
ThreadTimes times_of_this_thread();

class WatchedThread {
 public:
  explicit WatchedThread(std::function<void()> body);
  WatchedThread(WatchedThread&&) = default;
  WatchedThread& operator=(WatchedThread&&) = default;
  ~WatchedThread() = default;

  void join() { thread_.join(); }
  /// For any thread, before the join. A thread that has ended keeps its last times.
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
