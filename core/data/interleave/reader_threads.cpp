// The part of InputReaders that its threads run.
#include <optional>

#include "core/base/bounded_queue.h"
#include "core/data/element.h"
#include "core/data/interleave/readers.h"
#include "core/trace/pipeline_spans.h"

namespace gpubench {

void InputReaders::work() {
  std::vector<TensorView> views(
      settings_.packed.size());  // per thread, because shared memory would move between caches
  while (InputLane* const lane = next_lane()) {
    if (read(*lane, views)) {
      let_go(*lane);
    } else {
      end(*lane);
    }
  }
}

/// nullptr when there is no more work.
InputLane* InputReaders::next_lane() {
  std::unique_lock lock(mutex_);
  for (bool lingered = false; !closed_ && !is_over();) {
    if (InputLane* const lane = pick()) {
      if (!queue_.empty()) call_thread();
      return lane;
    }
    if (napping_) element_came_.notify_one();
    if (!lingered) {
      lingered = linger(lock);
      if (lingered) continue;
    }
    sleep(lock);
    lingered = false;
  }
  return nullptr;
}

/// Polls briefly, so that a consumer of cheap elements need not wake this thread; false if another thread does.
bool InputReaders::linger(std::unique_lock<std::mutex>& lock) {
  if (lingering_) return false;
  lingering_ = true;
  lock.unlock();
  spin_until([this] { return needed_ > 0 || closed_; });
  lock.lock();
  lingering_ = false;
  return true;
}

void InputReaders::sleep(std::unique_lock<std::mutex>& lock) {
  const bool full = parked_ > 0;  // otherwise other threads hold all lanes
  std::optional<WaitTime::Wait> blocked;
  if (full) blocked.emplace(blocked_);
  ++idle_;
  lane_came_.wait(lock);
  --idle_;
}

InputLane* InputReaders::pick() {
  const auto first_of = [](std::deque<InputLane*>& lanes) {
    InputLane* const lane = lanes.front();
    lanes.pop_front();
    return lane;
  };
  if (!queue_.empty()) {
    --needed_;
    return first_of(queue_);
  }
  if (!queue_ahead_.empty()) return first_of(queue_ahead_);
  if (std::ssize(ahead_) == settings_.threads) return nullptr;
  InputLane* const lane = assign_next();
  if (lane != nullptr) ahead_.push_back(lane);
  return lane;
}

/// nullptr when there are no more inputs.
InputLane* InputReaders::assign_next() {
  if (assigned_ == inputs_.count()) return nullptr;
  if (unused_.empty()) unused_.push_back(&lanes_.emplace_back(inputs_, settings_.buffer, settings_.packed));
  InputLane* const lane = unused_.back();
  unused_.pop_back();
  lane->assign(assigned_++);
  lane->in_cycle = false;
  ++unfinished_;
  return lane;
}

void InputReaders::queue(InputLane& lane) {
  if (lane.in_cycle) ++needed_;
  (lane.in_cycle ? queue_ : queue_ahead_).push_back(&lane);
  if (!lingering_) call_thread();
}

/// Wakes no more threads than there are cores: more would only alternate, unless they wait for their inputs. In that
/// case the consumer will wait, and wakes them all.
void InputReaders::call_thread() {
  if (idle_ > 0 && std::ssize(threads_) - idle_ < cores_) lane_came_.notify_one();
}

/// Reads until the lane has enough or other lanes are more urgent; false at its end.
bool InputReaders::read(InputLane& lane, std::span<TensorView> views) {
  const PipelineSpan span("read input");
  ReaderTurn turn;
  while (!closed_ && lane.ring.has_room(lane.limit)) {
    if (!read_element(lane, views)) return false;
    const bool needed_elsewhere = is_needed_elsewhere(lane, turn);
    announce(lane);
    if (needed_elsewhere) break;
  }
  return true;
}

/// False at the end.
bool InputReaders::read_element(InputLane& lane, std::span<TensorView> views) {
  ElementRing::Slot& slot = lane.ring.back();
  try {
    if (lane.ring.is_packed()) lane.ring.view_back(views);
    const auto next = [&](Cursor& cursor) {
      return lane.ring.is_packed() ? cursor.next_into(views) : cursor.next(slot.element);
    };
    if (!lane.read(next)) return false;
    if (settings_.sizes_vary) lane.fit(element_bytes(slot.element));
  } catch (const Error&) {
    release(slot.element);
    slot.error = std::current_exception();
    if (lane.last_error.repeats()) {
      lane.stopped = std::move(slot.error);
      return false;
    }
  } catch (...) {
    lane.stopped = std::current_exception();
    return false;
  }
  ++lane.elements;
  lane.ring.push();
  return true;
}

/// A waiting consumer needs a block of each lane before a second block of any lane. A thread changes lanes only after
/// ReaderTurn::least, because changing costs more than cheap blocks.
bool InputReaders::is_needed_elsewhere(const InputLane& lane, ReaderTurn& turn) const {
  if (needed_ == 0) return false;
  return !lane.in_cycle || (starving_ && lane.elements % settings_.block == 0 && turn.is_over());
}

/// Wakes the consumer if it waits for this element or end.
void InputReaders::announce(const InputLane& lane) {
  const void* wanted = wanted_;
  if (wanted != &lane && wanted != this) return;
  if (!wanted_.compare_exchange_strong(wanted, nullptr)) return;  // another thread has woken it
  { const std::lock_guard lock(mutex_); }                         // now the consumer is asleep and can be notified
  element_came_.notify_one();
}

void InputReaders::let_go(InputLane& lane) {
  const std::lock_guard lock(mutex_);
  lane.parked = true;
  ++parked_;
  if (lane.ring.size() > lane.refill_at) return;  // the consumer sees that it is parked when it has read that far
  lane.parked = false;
  --parked_;
  queue(lane);
}

void InputReaders::end(InputLane& lane) {
  {
    const std::lock_guard lock(mutex_);
    lane.ended = true;  // from here on the lane belongs to the consumer
    --unfinished_;
    if (is_over()) lane_came_.notify_all();
    if (napping_) element_came_.notify_one();
  }
  announce(lane);
}

}  // namespace gpubench
