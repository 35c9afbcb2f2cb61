#include "core/data/interleave/readers.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <fmt/format.h>
#include <system_error>

#include "core/base/interrupt.h"
#include "core/data/tune/machine_limits.h"

namespace gpubench {
namespace {

/// Much longer than it takes the consumer to fall asleep. Elements of slow sources arrive later by this time, but at
/// the same rate, because the threads read on.
constexpr std::chrono::microseconds nap_time{100};
/// Threads that have just started have only opened their inputs.
constexpr std::chrono::milliseconds least_observed{5};

void copy(std::span<const TensorView> element, std::span<const TensorView> slots) {
  assert(element.size() == slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    assert(*element[i].type == *slots[i].type);
    std::memcpy(slots[i].data, element[i].data, element[i].type->bytes());
  }
}

}  // namespace

InputReaders::InputReaders(OpenInputs& inputs, const ReaderSettings& settings)
    : inputs_(inputs),
      settings_(settings),
      cores_(schedulable_cores()),
      pool_(settings.memory),
      front_(settings.packed.size()),
      slots_(settings.packed.size()) {}

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
  if (idle_ > 0) lane_came_.notify_one();  // one more lane may be read ahead
  return lane;
}

void InputReaders::leave(InputLane& lane) {
  const std::lock_guard lock(mutex_);
  if (!started()) --unfinished_;
  unused_.push_back(&lane);
}

void InputReaders::start_thread() {
  threads_.emplace_back(fmt::format("interleave reader {}", threads_.size() + 1), [this] { work(); });
}

void InputReaders::start(std::span<InputLane* const> cycle) {
  const std::lock_guard lock(mutex_);
  if (queue_.empty()) {
    for (InputLane* const lane : cycle) queue(*lane);
  }
  since_start_ = Stopwatch();
  while (std::ssize(threads_) < settings_.first_threads) start_thread();
}

bool InputReaders::take(InputLane& lane, Element& element) {
  if (!await_element(lane)) return false;
  if (lane.ring.is_packed()) {
    pool_.allocate(settings_.packed, element);
    for (std::size_t i = 0; i < element.size(); ++i) slots_[i] = element[i].view();
    lane.ring.view_front(front_);
    copy(front_, slots_);
  } else {
    element.swap(lane.ring.front().element);
  }
  pop(lane);
  return true;
}

bool InputReaders::take(InputLane& lane, std::span<const TensorView> slots) {
  assert(lane.ring.is_packed());
  if (!await_element(lane)) return false;
  lane.ring.view_front(front_);
  copy(front_, slots);
  pop(lane);
  return true;
}

/// False at the end. Throws an error that replaces the element.
bool InputReaders::await_element(InputLane& lane) {
  if (!lane.ring.has_element()) await(&lane, [&] { return lane.is_ready(); });
  if (!lane.ring.has_element()) {
    if (lane.stopped) std::rethrow_exception(lane.stopped);
    return false;
  }
  if (!lane.ring.front().error) return true;
  const std::exception_ptr error = std::move(lane.ring.front().error);
  pop(lane);
  std::rethrow_exception(error);
}

void InputReaders::pop(InputLane& lane) {
  lane.ring.pop();
  if (lane.parked && lane.ring.size() <= lane.refill_at) refill(lane);
}

/// The threads announce elements of the lane in `wanted_`. Checking again after setting it cannot miss an element.
void InputReaders::await(const void* wanted, const std::function<bool()>& ready) {
  const Stopwatch watch;
  std::unique_lock lock(mutex_);
  hurry(wanted);
  starving_ = true;
  nap(lock, ready);
  for (bool told = true;; told = element_came_.wait_for(lock, interrupt_period) == std::cv_status::no_timeout) {
    if (!told) check_interrupt();
    wanted_ = wanted;
    if (ready()) break;
    call_threads();
  }
  wanted_ = nullptr;
  starving_ = false;
  starved_ += watch.elapsed();
}

/// Lets several cheap elements arrive before the consumer continues, unless the threads are idle.
void InputReaders::nap(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready) {
  if (ready()) return;
  napping_ = true;
  element_came_.wait_for(lock, nap_time);
  napping_ = false;
}

/// Called when the consumer waits while threads are awake: wakes all sleeping threads if there is work, and starts new
/// ones.
void InputReaders::call_threads() {
  if (!(queue_.empty() && queue_ahead_.empty())) lane_came_.notify_all();
  const bool may_help = idle_ == 0 && !queue_.empty() && std::ssize(threads_) < settings_.threads;
  if (!may_help || since_start_.elapsed() < least_observed || !threads_wait()) return;
  const auto most = std::min(static_cast<std::size_t>(settings_.threads), threads_.size() + queue_.size());
  try {
    while (threads_.size() < most) start_thread();
  } catch (const std::system_error&) {
    // The system has no more threads: those that run read all inputs, later.
  }
}

/// Whether threads mostly wait for their inputs instead of for a core or computing: only then do more threads help.
bool InputReaders::threads_wait() const {
  Seconds computed{};
  for (const WatchedThread& thread : threads_) computed += thread.times().cpu + thread.times().ready;
  return computed < 0.5 * static_cast<double>(threads_.size()) * since_start_.elapsed();
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
  Figures figures{.threads = static_cast<int>(threads_.size()), .starved = starved_, .blocked = blocked_.total()};
  for (const WatchedThread& thread : threads_) figures.times += thread.times();
  for (const InputLane& lane : lanes_) {
    figures.buffered += static_cast<std::int64_t>(lane.ring.size());
    figures.capacity += static_cast<std::int64_t>(lane.ring.capacity());
  }
  return figures;
}

}  // namespace gpubench
