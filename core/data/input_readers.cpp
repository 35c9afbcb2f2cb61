#include "core/data/input_readers.h"

#include <algorithm>

#include "core/base/bounded_queue.h"
#include "core/base/interrupt.h"

namespace gpubench {
namespace {

/// How often a waiting consumer looks whether the user pressed Ctrl-C.
constexpr std::chrono::milliseconds interrupt_period{50};
/// About what waking a sleeping thread costs.
constexpr std::chrono::microseconds spin_time{10};
constexpr int pauses_per_look = 16;

bool spin_until(const std::function<bool()>& ready) {
  const Stopwatch watch;
  while (!ready()) {
    if (watch.elapsed() > spin_time) return false;
    for (int i = 0; i < pauses_per_look; ++i) spin_pause();
  }
  return true;
}

std::size_t bytes_of(const Element& element) {
  std::size_t bytes = 0;
  for (const HostTensor& tensor : element) bytes += tensor.bytes();
  return bytes;
}

}  // namespace

InputReaders::InputReaders(OpenInputs& inputs, const ReaderSettings& settings) : inputs_(inputs), settings_(settings) {}

InputReaders::~InputReaders() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  lane_came_.notify_all();
  for (WatchedThread& thread : threads_) thread.join();
}

InputLane* InputReaders::enter() {
  const std::lock_guard lock(mutex_);
  if (ahead_.empty()) {
    InputLane* const lane = assign_next();
    if (lane == nullptr) return nullptr;
    lane->in_cycle = true;
    if (started()) queue(*lane);
    return lane;
  }
  InputLane* const lane = ahead_.front();
  ahead_.pop_front();
  lane->in_cycle = true;
  if (std::erase(queue_ahead_, lane) > 0) queue(*lane);
  if (idle_ > 0) lane_came_.notify_one();  // one more may be read ahead
  return lane;
}

void InputReaders::leave(InputLane& lane) {
  const std::lock_guard lock(mutex_);
  if (!started()) --unfinished_;
  unused_.push_back(&lane);
}

void InputReaders::start(std::span<InputLane* const> cycle) {
  const std::lock_guard lock(mutex_);
  if (queue_.empty()) {
    for (InputLane* const lane : cycle) queue(*lane);
  }
  while (std::ssize(threads_) < settings_.threads) threads_.emplace_back([this] { work(); });
}

bool InputReaders::take(InputLane& lane, Element& element) {
  if (!lane.ring.has_element()) await(&lane, [&] { return lane.is_ready(); });
  if (!lane.ring.has_element()) {
    if (lane.stopped) std::rethrow_exception(lane.stopped);
    return false;
  }
  ElementRing::Slot& slot = lane.ring.front();
  element.swap(slot.element);
  const std::exception_ptr error = std::move(slot.error);
  lane.ring.pop();
  if (lane.parked && lane.ring.size() <= lane.refill_at) refill(lane);
  if (error) std::rethrow_exception(error);
  return true;
}

/// Lanes tell of their elements when they are `wanted`; looking after saying so cannot miss one.
void InputReaders::await(const void* wanted, const std::function<bool()>& ready) {
  if (spin_until(ready)) return;
  const Stopwatch watch;
  std::unique_lock lock(mutex_);
  hurry(wanted);
  starving_ = true;
  for (bool told = true;; told = element_came_.wait_for(lock, interrupt_period) == std::cv_status::no_timeout) {
    if (!told) check_interrupt();
    wanted_ = wanted;
    if (ready()) break;
  }
  wanted_ = nullptr;
  starving_ = false;
  starved_ += watch.elapsed();
}

void InputReaders::hurry(const void* wanted) {
  const auto found = std::ranges::find(queue_, wanted);
  if (found != queue_.end()) std::rotate(queue_.begin(), found, found + 1);
}

void InputReaders::refill(InputLane& lane) {
  const std::lock_guard lock(mutex_);
  if (!lane.parked) return;
  lane.parked = false;
  --parked_;
  queue(lane);
}

InputReaders::Figures InputReaders::figures() const {
  const std::lock_guard lock(mutex_);
  Figures figures{.threads = static_cast<int>(threads_.size()), .starved = starved_, .blocked = blocked_};
  for (const WatchedThread& thread : threads_) figures.times += thread.times();
  for (const InputLane& lane : lanes_) {
    figures.buffered += static_cast<std::int64_t>(lane.ring.size());
    figures.capacity += static_cast<std::int64_t>(lane.ring.capacity());
  }
  return figures;
}

void InputReaders::work() {
  while (InputLane* const lane = next_lane()) {
    if (read(*lane)) {
      let_go(*lane);
    } else {
      end(*lane);
    }
  }
}

/// nullptr when there is nothing more to do.
InputLane* InputReaders::next_lane() {
  std::unique_lock lock(mutex_);
  for (bool lingered = false; !closed_ && !is_over();) {
    if (InputLane* const lane = pick()) {
      if (!queue_.empty() && idle_ > 0) lane_came_.notify_one();
      return lane;
    }
    if (!lingered) {
      lingered = linger(lock);
      if (lingered) continue;
    }
    sleep(lock);
    lingered = false;
  }
  return nullptr;
}

/// For a moment, so that a consumer of cheap elements need not wake the thread; false when another does.
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
  const bool full = parked_ > 0;  // else the others have all there is
  const Stopwatch watch;
  ++idle_;
  lane_came_.wait(lock);
  --idle_;
  if (full) blocked_ += watch.elapsed();
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
  if (unused_.empty()) unused_.push_back(&lanes_.emplace_back(inputs_, settings_.buffer));
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
  if (idle_ > 0 && !lingering_) lane_came_.notify_one();
}

/// Until the lane has enough or others need the thread more; false at its end.
bool InputReaders::read(InputLane& lane) {
  while (!closed_ && lane.ring.has_room(lane.limit)) {
    if (!read_element(lane)) return false;
    const bool needed_elsewhere = is_needed_elsewhere(lane);
    announce(lane);
    if (needed_elsewhere) break;
  }
  return true;
}

/// False at the end.
bool InputReaders::read_element(InputLane& lane) {
  ElementRing::Slot& slot = lane.ring.back();
  try {
    if (!lane.read([&](Cursor& cursor) { return cursor.next(slot.element); })) return false;
    if (settings_.sizes_vary) lane.fit(bytes_of(slot.element));
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

/// A consumer that waits needs a block of each lane before it needs more of one.
bool InputReaders::is_needed_elsewhere(const InputLane& lane) const {
  if (needed_ == 0) return false;
  return !lane.in_cycle || (starving_ && lane.elements % settings_.block == 0);
}

/// After an element, or the end, that the consumer may wait for.
void InputReaders::announce(const InputLane& lane) {
  const void* wanted = wanted_;
  if (wanted != &lane && wanted != this) return;
  if (!wanted_.compare_exchange_strong(wanted, nullptr)) return;  // another has woken it
  { const std::lock_guard lock(mutex_); }                         // it is asleep by now
  element_came_.notify_one();
}

void InputReaders::let_go(InputLane& lane) {
  const std::lock_guard lock(mutex_);
  lane.parked = true;
  ++parked_;
  if (lane.ring.size() > lane.refill_at) return;  // the consumer sees that it is parked when it comes down to that
  lane.parked = false;
  --parked_;
  queue(lane);
}

void InputReaders::end(InputLane& lane) {
  {
    const std::lock_guard lock(mutex_);
    lane.ended = true;  // from here on it is the consumer's
    --unfinished_;
    if (is_over()) lane_came_.notify_all();
  }
  announce(lane);
}

}  // namespace gpubench
