// A host thread for each replica of this process but the first, which runs on the caller's thread. Waiting threads spin
// briefly, so that a step follows the last one at once, and then sleep.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>

#include "core/base/thread_team.h"

namespace gpubench {

class ReplicaThreads {
 public:
  /// Throws Error if a thread cannot be started.
  explicit ReplicaThreads(int replicas);
  ~ReplicaThreads();
  ReplicaThreads(const ReplicaThreads&) = delete;
  ReplicaThreads& operator=(const ReplicaThreads&) = delete;

  int size() const { return threads_.size() + 1; }
  /// Calls work(replica) for each replica on its own thread, and returns when all have returned. If one throws, calls
  /// failed(replica, exception) on its thread immediately. Rethrows the first exception.
  template <class Work, class Failed>
  void run(Work&& work, Failed&& failed) {
    const auto call = [&](int replica) {
      try {
        work(replica);
      } catch (...) {
        if (!failure_taken_.exchange(true)) failure_ = std::current_exception();
        failed(replica, std::current_exception());
      }
    };
    using Call = decltype(call);
    run_all([](const void* given, int replica) { (*static_cast<const Call*>(given))(replica); }, &call);
  }

 private:
  using Invoke = void (*)(const void* call, int replica);
  void run_all(Invoke invoke, const void* call);
  void serve(int replica);

  Invoke invoke_ = nullptr;
  const void* call_ = nullptr;
  std::atomic<std::uint32_t> started_{0};  // number of started runs
  std::atomic<std::uint32_t> running_{0};  // threads that have not finished the run
  std::atomic<bool> failure_taken_{false};
  std::exception_ptr failure_;
  ThreadTeam threads_;  // the last member: its threads use the others, and end first
};

}  // namespace gpubench
