// Threads that the system refuses to start, in a program that links failing_threads.cpp.
#pragma once

namespace gpubench {

/// While it lives, `allowed` more threads can be started, and none after them.
class FailingThreads {
 public:
  explicit FailingThreads(int allowed);
  ~FailingThreads();
  FailingThreads(const FailingThreads&) = delete;
  FailingThreads& operator=(const FailingThreads&) = delete;
};

}  // namespace gpubench
