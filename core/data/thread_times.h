// A pipeline thread that measures its CPU time and the time in which it was ready to run but had no core. The rest of a
// stage's time is real waiting. This distinguishes a slow disk from a busy machine. What it does is traced
// (PipelineSpan).
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <thread>

#include "core/base/clock.h"

namespace gpubench {

struct ThreadTimes {
  Seconds cpu{};
  Seconds ready{};  ///< waited for a core; 0 if the kernel does not report it
  ThreadTimes& operator+=(const ThreadTimes& other) {
    cpu += other.cpu;
    ready += other.ready;
    return *this;
  }
};

/// Since the thread's start; zeros if the kernel does not report them.
ThreadTimes times_of_this_thread();

class WatchedThread {
 public:
  /// `name`: its lane in a trace, "map worker 2"; the thread's number is added.
  WatchedThread(std::string name, std::function<void()> body);
  WatchedThread(WatchedThread&&) = default;
  WatchedThread& operator=(WatchedThread&&) = default;
  ~WatchedThread() = default;

  void join() { thread_.join(); }
  /// Call before the join, from any thread. A thread that has ended keeps its last times.
  ThreadTimes times() const;

 private:
  struct Shared {
    std::atomic<pid_t> id{0};
    std::atomic<bool> ended{false};
    ThreadTimes last;  // valid once ended
  };
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace gpubench
