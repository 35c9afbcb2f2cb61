// Threads that pull parcels of work from one source one after the other, compute them side by side and hand them over,
// in the order of the pulls or as they finish. Per parcel that takes one lock to pull and one to hand over. Threads
// start with the first parcel asked for; how many of them work can change at any time. (The threads of an interleave,
// InputReaders, have a source for each input and choose which to read next; the two share no more than WatchedThread.)
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/data/map/parcel.h"
#include "core/data/thread_times.h"

namespace gpubench {

/// What the threads do.
class ParcelWork {
 public:
  virtual ~ParcelWork() = default;
  enum class Pull { parcel, end, halt };
  /// By one thread at a time, in order: fills in the next parcel's inputs. `end`: there is none and never will be;
  /// `halt`: the parcel is to be handed over, but nothing is pulled before the consumer asks for what comes after it.
  /// Neither this nor compute() throws.
  virtual Pull pull(Parcel& parcel) = 0;
  /// By any number of threads, each with a number of its own below most_workers.
  virtual void compute(Parcel& parcel, int worker) = 0;
};

class ParcelWorkers {
 public:
  static constexpr int most_workers = 128;

  /// At most `buffer` parcels are between pull and consumer.
  ParcelWorkers(ParcelWork& work, int workers, int buffer, bool ordered);
  /// Stops and joins the threads.
  ~ParcelWorkers();
  ParcelWorkers(const ParcelWorkers&) = delete;
  ParcelWorkers& operator=(const ParcelWorkers&) = delete;

  /// Swaps `parcel` with the next one; false at the end. Throws Interrupted while it waits.
  bool next(Parcel& parcel);
  /// Calls `call` while nothing is pulled. For the consumer's thread.
  template <class Call>
  auto between_pulls(Call&& call) {
    const std::lock_guard lock(pulling_);
    return call();
  }

  void set_workers(int workers);
  void set_buffer(int buffer);

  struct Figures {
    int workers = 0;
    int buffer = 0;
    std::int64_t parcels = 0;   ///< handed to the consumer
    std::int64_t buffered = 0;  ///< parcels that wait for the consumer
    Seconds starved{};          ///< consumer waited for a parcel
    Seconds blocked{};          ///< workers waited for room, all together
    ThreadTimes threads{};      ///< all workers'
  };
  Figures figures() const;

 private:
  static constexpr std::size_t slots = 256;
  struct Slot {
    Parcel parcel;
    bool ready = false;
  };

  void start_missing();
  void run(int worker);
  bool await_turn(int worker);
  bool await_room();
  bool pull(Parcel& parcel, std::uint64_t& ticket);
  void hand_over(Parcel& parcel, std::uint64_t ticket);
  void await_parcel(std::unique_lock<std::mutex>& lock, const Slot& slot);
  bool may_pull() const;
  bool over_for_workers() const { return closed_ || ended_; }
  bool has_room() const { return !halted_ && pulled_ - taken_ < buffer_; }
  bool over() const { return ended_ && taken_ == pulled_; }

  ParcelWork& work_;
  const bool ordered_;
  std::mutex pulling_;
  mutable std::mutex mutex_;  // for all that follows; taken after pulling_
  std::condition_variable parcel_came_;
  std::condition_variable room_came_;
  std::condition_variable turn_came_;
  std::vector<Slot> slots_;
  std::uint64_t pulled_ = 0;
  std::uint64_t handed_over_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t buffer_;
  int workers_;
  int waiting_ = 0;  // workers, for room
  bool started_ = false;
  bool halted_ = false;
  bool ended_ = false;
  bool closed_ = false;
  Seconds starved_{};
  Seconds blocked_{};
  std::vector<WatchedThread> threads_;
};

}  // namespace gpubench
