// Threads that pull parcels of work from one source, compute them in parallel and hand them over, either in the order
// of the pulls or as they finish. Each parcel takes one lock to pull and one to hand over. Threads start when the first
// parcel is requested; the number of active ones can change at any time. (InputReaders of an interleave choose between
// many sources; the two classes share only WatchedThread.)
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/wait_time.h"
#include "core/data/map/parcel.h"
#include "core/data/thread_times.h"

namespace gpubench {

/// The work of the threads.
class ParcelWork {
 public:
  virtual ~ParcelWork() = default;
  enum class Pull { parcel, end, halt };
  /// Fills in the next parcel's inputs; called by one thread at a time, in order. `end`: there are no more parcels;
  /// `halt`: hand over this parcel, but pull nothing until the consumer asks for the next. Neither this nor compute()
  /// throws.
  virtual Pull pull(Parcel& parcel) = 0;
  /// Called by several threads at once, each with its own `worker` number below most_workers.
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
  /// Runs `call` while no thread pulls. Consumer's thread only.
  template <class Call>
  auto between_pulls(Call&& call) {
    const std::lock_guard lock(pulling_);
    return call();
  }

  /// Throws std::system_error, and goes on with the threads that there are, if one cannot be started.
  void set_workers(int workers);
  void set_buffer(int buffer);

  struct Figures {
    int workers = 0;
    int buffer = 0;
    std::int64_t parcels = 0;   ///< handed to the consumer
    std::int64_t buffered = 0;  ///< parcels waiting for the consumer
    Seconds starved{};          ///< time in which the consumer waited for a parcel
    Seconds blocked{};          ///< time in which workers waited for room, summed
    ThreadTimes threads{};      ///< of all workers
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
  mutable std::mutex mutex_;  // guards all members below; lock it after pulling_
  std::condition_variable parcel_came_;
  std::condition_variable room_came_;
  std::condition_variable turn_came_;
  std::vector<Slot> slots_;
  std::uint64_t pulled_ = 0;
  std::uint64_t handed_over_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t buffer_;
  int workers_;
  bool started_ = false;
  bool halted_ = false;
  bool ended_ = false;
  bool closed_ = false;
  WaitTime starved_, blocked_;
  std::vector<WatchedThread> threads_;
};

}  // namespace gpubench
