// A queue of bounded size between threads. Items are swapped in and out, so their memory is reused. A reader of an
// empty queue spins briefly before it sleeps; a writer that found the queue full sleeps until it is half empty. In
// between, neither side makes a system call. Libraries' queues allocate per item and do not measure how long each side
// waited, which reports and the tuner of a pipeline need.
#pragma once
#include <algorithm>
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/wait_time.h"

namespace gpubench {

/// Hints to the processor that this thread is spinning.
inline void spin_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Spins until `ready`, for about as long as waking a sleeping thread takes. Returns whether it became ready.
template <class Ready>
bool spin_until(const Ready& ready) {
  constexpr std::chrono::microseconds spin_time{10};
  constexpr int pauses_per_look = 16;
  const Stopwatch watch;
  while (!ready()) {
    if (watch.elapsed() > spin_time) return false;
    for (int i = 0; i < pauses_per_look; ++i) spin_pause();
  }
  return true;
}

template <class T>
class BoundedQueue {
 public:
  enum class Pop { item, closed, timed_out };

  explicit BoundedQueue(std::size_t capacity) : slots_(capacity), capacity_(capacity) { assert(capacity > 0); }
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  /// Swaps `item` with a free slot; blocks while there is none. False when the queue is closed.
  bool push(T& item) {
    std::unique_lock lock(mutex_);
    if (count_ >= capacity_ && !closed_) wait_for_room(lock);
    if (closed_) return false;
    using std::swap;
    swap(slots_[(first_ + count_) % slots_.size()], item);
    set_count(count_ + 1);
    const bool wake = readers_.waiting() > 0;
    lock.unlock();
    if (wake) not_empty_.notify_one();
    return true;
  }

  /// Swaps `item` with the oldest item; blocks while there is none, for at most `patience`. Returns `closed` when the
  /// queue is closed and empty.
  Pop pop(T& item, Clock::duration patience) {
    const auto has_item = [this] { return count_now_.load(std::memory_order_relaxed) > 0; };
    if (!has_item()) spin_until(has_item);
    std::unique_lock lock(mutex_);
    if (count_ == 0 && !closed_) wait_for_item(lock, patience);
    if (count_ == 0) return closed_ ? Pop::closed : Pop::timed_out;
    using std::swap;
    swap(item, slots_[first_]);
    first_ = (first_ + 1) % slots_.size();
    set_count(count_ - 1);
    const bool wake = writers_.waiting() > 0 && has_room_again();
    lock.unlock();
    if (wake) not_full_.notify_all();
    return Pop::item;
  }

  /// All later pushes fail; readers get the items that are left. Wakes all threads that wait.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  /// If the capacity shrinks below the number of items, they stay until they are read.
  void set_capacity(std::size_t capacity) {
    assert(capacity > 0);
    const std::lock_guard lock(mutex_);
    std::rotate(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(first_), slots_.end());
    first_ = 0;
    slots_.resize(std::max(capacity, count_));
    capacity_ = capacity;
    not_full_.notify_all();
  }

  std::size_t size() const { return count_now_.load(std::memory_order_relaxed); }
  std::size_t capacity() const {
    const std::lock_guard lock(mutex_);
    return capacity_;
  }
  /// How long readers have waited for items, and writers for room.
  std::pair<Seconds, Seconds> waited() const {
    const std::lock_guard lock(mutex_);
    return {readers_.total(), writers_.total()};
  }

 private:
  void wait_for_item(std::unique_lock<std::mutex>& lock, Clock::duration patience) {
    const WaitTime::Wait wait(readers_);
    not_empty_.wait_for(lock, patience, [this] { return count_ > 0 || closed_; });
  }

  void wait_for_room(std::unique_lock<std::mutex>& lock) {
    const WaitTime::Wait wait(writers_);
    not_full_.wait(lock, [this] { return has_room_again() || closed_; });
  }

  bool has_room_again() const { return count_ <= capacity_ / 2; }

  void set_count(std::size_t count) {
    count_ = count;
    count_now_.store(count, std::memory_order_relaxed);
  }

  mutable std::mutex mutex_;
  std::condition_variable not_empty_;
  std::condition_variable not_full_;
  std::vector<T> slots_;
  std::size_t capacity_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::atomic<std::size_t> count_now_{0};  // copy of count_ for reading without the lock
  bool closed_ = false;
  WaitTime readers_, writers_;
};

}  // namespace gpubench
