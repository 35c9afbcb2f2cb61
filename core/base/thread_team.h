// Threads that work together, and may wait for each other. They start whole or not at all: where the system refuses
// one, those before it end without a call, so that none waits for a thread that does not come.
#pragma once
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace gpubench {

class ThreadTeam {
 public:
  /// Starts a thread for each index from 0 below `count`. They call body(index), which must not throw, once all have
  /// started. Throws Error if one cannot be started.
  ThreadTeam(int count, std::function<void(int index)> body);
  /// Joins the threads.
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }
  void join();

 private:
  enum class Order : int { wait, begin, end };
  void serve(int index);
  void give(Order order);
  void end();

  const std::function<void(int)> body_;
  std::atomic<Order> order_{Order::wait};
  std::vector<std::thread> threads_;
};

/// Throws Error if `count` more threads cannot be started now. For libraries that end the process where they cannot
/// start theirs.
void check_more_threads(int count);

}  // namespace gpubench
