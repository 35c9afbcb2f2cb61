// Threads that read the inputs of an interleave ahead of its consumer. They read the inputs of the cycle first, in the
// order in which the consumer needs them. When the buffers of these are full, or other threads read them, they read the
// inputs that follow the cycle. Each input has a buffer of its own, so the order of reading does not change the order
// of elements.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/clock.h"
#include "core/data/element/block_pool.h"
#include "core/data/interleave/input_lane.h"
#include "core/data/thread_times.h"

namespace gpubench {

struct ReaderSettings {
  int threads = 0;
  /// With how many of them to start; more come where these wait for their inputs and the consumer for them.
  int first_threads = 0;
  std::int64_t block = 1;
  /// Elements that an input's buffer holds at most.
  std::size_t buffer = 1;
  /// Whether it is to hold fewer when elements turn out to be large.
  bool sizes_vary = false;
  /// The elements' types where they are small, so that they are copied into buffers; none: they are handed over.
  std::vector<TensorType> packed{};
  /// Where elements that were copied go for a consumer without a place for them; see CursorOptions.
  MemoryPool* memory = nullptr;
};

/// All calls are the consumer's, but for figures(). Until start() it reads the lanes itself.
class InputReaders {
 public:
  InputReaders(OpenInputs& inputs, const ReaderSettings& settings);
  /// Ends the reading and joins the threads. Whoever opens the inputs should have asked them to stop waiting.
  ~InputReaders();
  InputReaders(const InputReaders&) = delete;
  InputReaders& operator=(const InputReaders&) = delete;

  /// The next input enters the cycle; nullptr when there are no more.
  InputLane* enter();
  /// The lane's input is at its end and leaves.
  void leave(InputLane& lane);

  /// `cycle`: lanes in the order in which they are needed.
  void start(std::span<InputLane* const> cycle);
  bool started() const { return !threads_.empty(); }

  /// Once started: the lane's next element, false at its end. Throws what stands in the element's place.
  bool take(InputLane& lane, Element& element);
  /// The same, written into `slots`, where elements are packed.
  bool take(InputLane& lane, std::span<const TensorView> slots);
  /// Once started: waits until `ready`, which a lane that gets ready may make true.
  void await_any(const std::function<bool()>& ready) { await(this, ready); }

  struct Figures {
    int threads = 0;
    std::int64_t buffered = 0;
    std::int64_t capacity = 0;
    Seconds starved{};  ///< consumer waited for an element
    Seconds blocked{};  ///< threads waited for room, all together
    ThreadTimes times{};
  };
  Figures figures() const;

 private:
  // The consumer's.
  bool await_element(InputLane& lane);
  void pop(InputLane& lane);
  void await(const void* wanted, const std::function<bool()>& ready);
  void call_threads();
  bool threads_wait() const;
  void nap(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready);
  void hurry(const void* wanted);
  void refill(InputLane& lane);

  // The threads'.
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

  // Under the lock.
  InputLane* assign_next();
  InputLane* pick();
  void queue(InputLane& lane);
  void call_thread();
  bool is_over() const { return assigned_ == inputs_.count() && unfinished_ == 0; }

  OpenInputs& inputs_;
  const ReaderSettings settings_;
  const int cores_;
  // The consumer's, for packed elements.
  BlockPool pool_;
  std::vector<TensorView> front_;
  std::vector<TensorView> slots_;

  std::atomic<bool> closed_{false};
  std::atomic<bool> starving_{false};         // the consumer waits
  std::atomic<const void*> wanted_{nullptr};  // for this lane; this object: for any
  std::atomic<std::size_t> needed_{0};        // lanes of the cycle that are queued

  mutable std::mutex mutex_;  // for all that follows
  std::condition_variable element_came_;
  std::condition_variable lane_came_;
  std::deque<InputLane> lanes_;
  std::vector<InputLane*> unused_;
  std::size_t assigned_ = 0;            // inputs that have, or had, a lane
  std::size_t unfinished_ = 0;          // of these, those that are not read to their end
  std::deque<InputLane*> ahead_;        // whose inputs enter the cycle next
  std::deque<InputLane*> queue_;        // of the cycle, to be read, most urgent first
  std::deque<InputLane*> queue_ahead_;  // of those ahead
  int idle_ = 0;                        // threads without a lane
  bool lingering_ = false;              // one of the others looks out for lanes
  int parked_ = 0;                      // lanes
  bool napping_ = false;                // the consumer
  Stopwatch since_start_;               // of the first threads
  Seconds starved_{};
  Seconds blocked_{};

  std::vector<WatchedThread> threads_;  // the consumer's; last, since they use all the others
};

}  // namespace gpubench
