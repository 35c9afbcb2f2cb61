// Threads that read the inputs of an interleave ahead of its consumer. They read the inputs of the cycle first, in the
// order in which the consumer needs them. If the buffers of those are full, or other threads read them, they read the
// inputs that follow the cycle. Each input has its own buffer, so the order of reading does not change the order of
// elements.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/clock.h"
#include "core/base/wait_time.h"
#include "core/data/element/block_pool.h"
#include "core/data/interleave/input_lane.h"
#include "core/data/thread_times.h"

namespace gpubench {

struct ReaderSettings {
  int threads = 0;
  /// Number of threads at the start; more are added when threads wait for their inputs and the consumer waits for them.
  int first_threads = 0;
  std::int64_t block = 1;
  /// Capacity of an input's buffer, in elements.
  std::size_t buffer = 1;
  /// Whether the capacity shrinks when elements turn out to be large.
  bool sizes_vary = false;
  /// The elements' types if they are small enough to be copied into buffers; empty: elements are handed over.
  std::vector<TensorType> packed{};
  /// Memory for packed elements when the consumer does not provide slots; see CursorOptions.
  MemoryPool* memory = nullptr;
};

/// All methods but figures() are for the consumer's thread. Until start(), the consumer reads the lanes itself.
class InputReaders {
 public:
  InputReaders(OpenInputs& inputs, const ReaderSettings& settings);
  /// Stops the threads and joins them. The inputs' stop token should be triggered before.
  ~InputReaders();
  InputReaders(const InputReaders&) = delete;
  InputReaders& operator=(const InputReaders&) = delete;

  /// Lets the next input enter the cycle; nullptr if there are no more.
  InputLane* enter();
  /// Removes a lane whose input has ended.
  void leave(InputLane& lane);

  /// `cycle`: the lanes in the order in which they are needed.
  void start(std::span<InputLane* const> cycle);
  bool started() const { return !threads_.empty(); }

  /// After start(): the lane's next element; false at its end. Throws the error that replaces the element.
  bool take(InputLane& lane, Element& element);
  /// The same for packed elements, written into `slots`.
  bool take(InputLane& lane, std::span<const TensorView> slots);
  /// After start(): waits until `ready` returns true; it is checked whenever a lane becomes ready.
  void await_any(const std::function<bool()>& ready) { await(this, ready); }

  struct Figures {
    int threads = 0;
    std::int64_t buffered = 0;
    std::int64_t capacity = 0;
    Seconds starved{};  ///< time in which the consumer waited for an element
    Seconds blocked{};  ///< time in which threads waited for room, summed
    ThreadTimes times{};
  };
  Figures figures() const;

 private:
  // Consumer's thread only.
  bool await_element(InputLane& lane);
  void pop(InputLane& lane);
  void await(const void* wanted, const std::function<bool()>& ready);
  void start_thread();
  void call_threads();
  bool threads_wait() const;
  void nap(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready);
  void hurry(const void* wanted);
  void refill(InputLane& lane);

  // The reading threads.
  void work();
  InputLane* next_lane();
  bool linger(std::unique_lock<std::mutex>& lock);
  void sleep(std::unique_lock<std::mutex>& lock);
  bool read(InputLane& lane, std::span<TensorView> views);
  bool read_element(InputLane& lane, std::span<TensorView> views);
  bool is_needed_elsewhere(const InputLane& lane, ReaderTurn& turn) const;
  void announce(const InputLane& lane);
  void let_go(InputLane& lane);
  void end(InputLane& lane);

  // With the lock held.
  InputLane* assign_next();
  InputLane* pick();
  void queue(InputLane& lane);
  void call_thread();
  bool is_over() const { return assigned_ == inputs_.count() && unfinished_ == 0; }

  OpenInputs& inputs_;
  const ReaderSettings settings_;
  const int cores_;
  // Consumer's thread only, for packed elements.
  BlockPool pool_;
  std::vector<TensorView> front_;
  std::vector<TensorView> slots_;

  std::atomic<bool> closed_{false};
  std::atomic<bool> starving_{false};         // the consumer waits
  std::atomic<const void*> wanted_{nullptr};  // for this lane; `this`: for any lane
  std::atomic<std::size_t> needed_{0};        // lanes of the cycle in queue_

  mutable std::mutex mutex_;  // guards all members below
  std::condition_variable element_came_;
  std::condition_variable lane_came_;
  std::deque<InputLane> lanes_;
  std::vector<InputLane*> unused_;
  std::size_t assigned_ = 0;            // inputs that have, or had, a lane
  std::size_t unfinished_ = 0;          // of these, inputs not read to their end
  std::deque<InputLane*> ahead_;        // lanes whose inputs enter the cycle next
  std::deque<InputLane*> queue_;        // lanes of the cycle to be read, most urgent first
  std::deque<InputLane*> queue_ahead_;  // the same for lanes in ahead_
  int idle_ = 0;                        // threads without a lane
  bool lingering_ = false;              // one of the idle threads polls for lanes
  int parked_ = 0;                      // parked lanes
  bool napping_ = false;                // the consumer sleeps briefly
  Stopwatch since_start_;               // time since the first threads started
  Seconds starved_{};
  WaitTime blocked_;

  std::vector<WatchedThread> threads_;  // changed by the consumer; last member, because threads use all others
};

}  // namespace gpubench
