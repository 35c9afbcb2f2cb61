#include "core/comm/side_queue.h"

#include <algorithm>
#include <utility>

namespace gpubench {
namespace {

/// The queue's thread looks for others beside kernels that need its processor.
constexpr Clock::duration short_spin = std::chrono::microseconds(2);

}  // namespace

SideQueue::~SideQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  pushed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SideQueue::push(Work& work) {
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
    work.queued = true;
    work.failure = nullptr;
    queue_.push_back(&work);
  }
  pushed_.notify_one();
}

void SideQueue::finish(Work& work) {
  std::unique_lock lock(mutex_);
  help_until(lock, [&] { return !work.queued && !work.running; });
  if (work.failure) std::rethrow_exception(std::exchange(work.failure, nullptr));
}

void SideQueue::drain() {
  std::unique_lock lock(mutex_);
  help_until(lock, [&] { return queue_.empty() && !busy_; });
}

bool SideQueue::withdraw(Work& work) {
  std::unique_lock lock(mutex_);
  const bool undone = work.queued;
  std::erase(queue_, &work);
  work.queued = false;
  while (work.running) {
    const std::uint32_t next = ended_count_ + 1;
    lock.unlock();
    ended_.wait(next, spin_time);
    lock.lock();
  }
  return undone;
}

template <class Over>
void SideQueue::help_until(std::unique_lock<std::mutex>& lock, const Over& over) {
  while (!over()) {
    if (!busy_ && !queue_.empty()) {
      take_one(lock, spin_time);
      continue;
    }
    const std::uint32_t next = ended_count_ + 1;
    lock.unlock();
    ended_.wait(next, spin_time);
    lock.lock();
  }
  if (!busy_ && !queue_.empty()) pushed_.notify_one();  // the thread found it busy when it looked
}

void SideQueue::take_one(std::unique_lock<std::mutex>& lock, Clock::duration spin) {
  Work& work = *queue_.front();
  queue_.pop_front();
  work.queued = false, work.running = true, busy_ = true;
  lock.unlock();
  std::exception_ptr failure;
  try {
    work.carry_out(spin);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  work.failure = failure;
  work.running = false, busy_ = false;
  ++ended_count_;
  ended_.raise();
}

void SideQueue::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    pushed_.wait(lock, [this] { return stopping_ || (!busy_ && !queue_.empty()); });
    if (stopping_) return;
    take_one(lock, short_spin);
  }
}

}  // namespace gpubench
