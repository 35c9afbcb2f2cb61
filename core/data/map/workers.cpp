#include "core/data/map/workers.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <utility>

#include "core/base/interrupt.h"
#include "core/trace/pipeline_spans.h"

namespace gpubench {
ParcelWorkers::ParcelWorkers(ParcelWork& work, int workers, int buffer, bool ordered)
    : work_(work), ordered_(ordered), slots_(slots), buffer_(0), workers_(workers) {
  assert(workers > 0 && workers <= most_workers);
  threads_.reserve(most_workers);
  set_buffer(buffer);
}

ParcelWorkers::~ParcelWorkers() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  room_came_.notify_all();
  turn_came_.notify_all();
  for (WatchedThread& thread : threads_) thread.join();
}

bool ParcelWorkers::next(Parcel& parcel) {
  parcel.clear();
  std::unique_lock lock(mutex_);
  if (!started_) {
    start_missing();
    started_ = true;
  }
  Slot& slot = slots_[taken_ % slots];
  if (!slot.ready) await_parcel(lock, slot);
  if (!slot.ready) return false;
  std::swap(slot.parcel, parcel);
  slot.ready = false;
  ++taken_;
  const bool wake = blocked_.waiting() > 0;
  lock.unlock();
  if (wake) room_came_.notify_one();
  return true;
}

void ParcelWorkers::await_parcel(std::unique_lock<std::mutex>& lock, const Slot& slot) {
  if (halted_ && taken_ == pulled_) {
    halted_ = false;
    room_came_.notify_all();
  }
  const WaitTime::Wait wait(starved_);
  while (!parcel_came_.wait_for(lock, interrupt_period, [&] { return slot.ready || over(); })) check_interrupt();
}

void ParcelWorkers::set_workers(int workers) {
  assert(workers > 0 && workers <= most_workers);
  const std::lock_guard lock(mutex_);
  workers_ = workers;
  try {
    if (started_ && !ended_) start_missing();
  } catch (...) {
    workers_ = static_cast<int>(threads_.size());
    throw;
  }
  turn_came_.notify_all();
}

void ParcelWorkers::set_buffer(int buffer) {
  const std::lock_guard lock(mutex_);
  buffer_ = static_cast<std::uint64_t>(std::clamp(buffer, 1, static_cast<int>(slots)));
  room_came_.notify_all();
}

ParcelWorkers::Figures ParcelWorkers::figures() const {
  std::unique_lock lock(mutex_);
  Figures figures{.workers = workers_,
                  .buffer = static_cast<int>(buffer_),
                  .parcels = static_cast<std::int64_t>(taken_),
                  .buffered = static_cast<std::int64_t>(handed_over_ - taken_),
                  .starved = starved_.total(),
                  .blocked = blocked_.total(),
                  .threads = {}};
  const std::size_t started = threads_.size();
  lock.unlock();  // the vector's memory is reserved, so running threads do not move
  for (std::size_t i = 0; i < started; ++i) figures.threads += threads_[i].times();
  return figures;
}

void ParcelWorkers::start_missing() {
  while (std::ssize(threads_) < workers_) {
    const auto worker = static_cast<int>(threads_.size());
    threads_.emplace_back(fmt::format("map worker {}", worker + 1), [this, worker] { run(worker); });
  }
}

void ParcelWorkers::run(int worker) {
  Parcel parcel;
  while (await_turn(worker)) {
    std::uint64_t ticket = 0;
    if (!pull(parcel, ticket)) return;
    {
      const PipelineSpan span("map");
      work_.compute(parcel, worker);
    }
    hand_over(parcel, ticket);
  }
}

/// Parks the thread while fewer threads should run; false when there is no more work.
bool ParcelWorkers::await_turn(int worker) {
  std::unique_lock lock(mutex_);
  turn_came_.wait(lock, [&] { return worker < workers_ || ended_ || closed_; });
  return !ended_ && !closed_;
}

bool ParcelWorkers::pull(Parcel& parcel, std::uint64_t& ticket) {
  while (await_room()) {
    const std::lock_guard turn(pulling_);
    if (!may_pull()) continue;  // another thread was first
    const PipelineSpan span("read input");
    const ParcelWork::Pull pulled = work_.pull(parcel);
    const std::lock_guard lock(mutex_);
    if (pulled == ParcelWork::Pull::end) {
      ended_ = true;
      turn_came_.notify_all();
      room_came_.notify_all();
      parcel_came_.notify_all();
      return false;
    }
    halted_ = pulled == ParcelWork::Pull::halt;
    ticket = pulled_++;
    return true;
  }
  return false;
}

bool ParcelWorkers::may_pull() const {
  const std::lock_guard lock(mutex_);
  return !over_for_workers() && has_room();
}

/// Must not be called with pulling_ locked, which the consumer needs for skipping. False when there is no more work.
bool ParcelWorkers::await_room() {
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return over_for_workers() || has_room(); };
  if (!ready()) {
    const WaitTime::Wait wait(blocked_);
    room_came_.wait(lock, ready);
  }
  return !over_for_workers();
}

void ParcelWorkers::hand_over(Parcel& parcel, std::uint64_t ticket) {
  std::unique_lock lock(mutex_);
  if (!ordered_) ticket = handed_over_;
  ++handed_over_;
  Slot& slot = slots_[ticket % slots];
  std::swap(slot.parcel, parcel);
  slot.ready = true;
  const bool is_next = ticket == taken_;
  lock.unlock();
  if (is_next) parcel_came_.notify_one();
}

}  // namespace gpubench
