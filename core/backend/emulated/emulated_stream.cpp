#include "core/backend/emulated/emulated_stream.h"

#include <algorithm>
#include <cstring>
#include <sys/prctl.h>
#include <thread>

#include "core/backend/emulated/emulated_device.h"
#include "core/backend/emulated/engine.h"
#include "core/base/clock.h"
#include "core/base/interrupt.h"
#include "core/trace/launching_node.h"

namespace gpubench {
namespace {

// The host's side of emulated devices: what calls cost a host thread, and waiting. No thread is started: a thread that
// waits sleeps itself, and spins only for the last moment, because a sleep takes some 50 us too long.

/// By how much a thread may be ahead of its calls, and by how much it still is after a sleep: more than a sleep takes
/// too long, so that no device waits for a thread that overslept.
constexpr Clock::duration most_ahead = std::chrono::microseconds(200);
constexpr Clock::duration ahead_after_sleep = std::chrono::microseconds(100);

/// Linux lets sleeps take up to 50 us longer by default, to save power.
void request_exact_sleeps() {
  thread_local bool requested = false;
  if (requested) return;
  constexpr unsigned long shortest_slack_ns = 1;
  prctl(PR_SET_TIMERSLACK, shortest_slack_ns, 0, 0, 0);
  requested = true;
}

/// A thread that waits spins for so long before the end: about as long as a sleep takes too long.
constexpr Clock::duration spun = std::chrono::microseconds(60);

/// Returns early once an interrupt or a time-out is requested.
void sleep_until(Clock::time_point time) {
  request_exact_sleeps();
  for (Clock::time_point now = Clock::now(); now < time; now = Clock::now()) {
    if (interrupt_requested() || timeout_requested()) return;
    std::this_thread::sleep_until(std::min(time, now + interrupt_period));
  }
}

/// Until when the calling thread is in its calls.
thread_local Clock::time_point busy_until = Clock::time_point::min();

/// Keeps the calling thread busy until `time`; see charge_host().
void hold_host_until(Clock::time_point time) {
  busy_until = std::max(busy_until, time);
  if (busy_until - Clock::now() > most_ahead) sleep_until(busy_until - ahead_after_sleep);
}

/// Charges the calling thread a call that keeps it busy for `length`, after its earlier calls, and returns when that
/// is. The thread may return from its calls early, but never by more than 0.2 ms: then it sleeps. A sleep for every
/// launch would take longer than a launch.
Booking charge_host(Clock::duration length) {
  const Clock::time_point begin = std::max(Clock::now(), busy_until);
  hold_host_until(begin + length);
  return {begin, begin + length};
}

/// Blocks until `time`, and at most some microseconds longer on an idle machine. Returns early once an interrupt or a
/// time-out is requested: no memory depends on emulated work.
void wait_until(Clock::time_point time) {
  sleep_until(time - spun);
  while (Clock::now() < time && !interrupt_requested() && !timeout_requested()) {
  }
}

std::shared_ptr<const std::string> text(const char* words) {
  return std::make_shared<const std::string>(words);
}

const std::shared_ptr<const std::string>& launch_name() {
  static const auto name = text("launch");
  return name;
}

/// Waits, and records that the host did.
void wait_on_host(const EmulatedDevice& device, Clock::time_point time) {
  static const auto name = text("waiting for the device");
  const Clock::time_point begin = Clock::now();
  if (begin >= time) return;
  wait_until(time);
  if (!device.log().records()) return;
  device.log().add({SpanClass::host_sync, name, host_lane(), -1, 0, {begin, Clock::now()}});
}

}  // namespace

Clock::time_point launch_on_host(const EmulatedDevice& device, std::uint32_t correlation) {
  const Booking call = charge_host(to_clock(device.profile().launch_s));
  if (device.log().records()) device.log().add({SpanClass::launch, launch_name(), host_lane(), -1, correlation, call});
  return call.end;
}

EmulatedStream::EmulatedStream(EmulatedDevice& device, std::string name)
    : device_(device), lane_(std::make_shared<const std::string>(std::move(name))) {}

Clock::time_point EmulatedStream::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

void EmulatedStream::wait_until(Clock::time_point time) {
  const std::lock_guard lock(mutex_);
  end_ = std::max(end_, time);
}

Booking EmulatedStream::book(const BookedWork& work, Clock::time_point submitted, std::uint32_t correlation) {
  const std::lock_guard lock(mutex_);
  const Booking time = work.engine->book(std::max(end_, submitted), work.length);
  end_ = time.end;
  if (device_.log().records())
    device_.log().add(
        {work.span_class, work.name, lane_, *device_.tracer_index(), correlation, time, launching_node()});
  return time;
}

void EmulatedStream::launch(const BookedWork& work) {
  if (capture_ != nullptr) {
    capture_->steps_.push_back({EmulatedCapture::Step::Kind::work, capture_lane_, 0, work});
    return;
  }
  const std::uint32_t correlation = device_.log().next_correlation();
  book(work, launch_on_host(device_, correlation), correlation);
}

void EmulatedStream::record(Event& event) {
  auto& mark = static_cast<EmulatedEvent&>(event);
  if (capture_ != nullptr) {
    mark.recorded_ = {capture_, capture_->marks_++};
    capture_->steps_.push_back({EmulatedCapture::Step::Kind::mark, capture_lane_, mark.recorded_.index, {}});
    return;
  }
  mark.recorded_ = {};
  // A stream without work reaches it as soon as the host has called.
  mark.ticks_ = std::max(end(), charge_host({}).begin).time_since_epoch().count();
}

void EmulatedStream::wait_for(const Event& event) {
  const auto* const mark = dynamic_cast<const EmulatedEvent*>(&event);
  if (mark == nullptr) return event.wait();  // of a device of another kind
  const std::shared_ptr<EmulatedCapture> capture = mark->recorded_.capture.lock();
  if (capture != nullptr && capture->is_open()) {
    if (capture_ == nullptr) capture->join(*this);
    capture->steps_.push_back({EmulatedCapture::Step::Kind::wait, capture_lane_, mark->recorded_.index, {}});
  } else if (capture_ == nullptr) {
    wait_until(mark->at());
  }
}

void EmulatedStream::copy(void* destination, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  bool blocks_host = false;
  const BookedWork work = device_.work_of_copy(destination, source, bytes, blocks_host);
  if (capture_ != nullptr || !blocks_host) {
    launch(work);
  } else {
    const std::uint32_t correlation = device_.log().next_correlation();
    hold_host_until(book(work, launch_on_host(device_, correlation), correlation).end);
  }
  // At last, because it takes the host time.
  if (!device_.keeps_content(destination, bytes)) std::memset(destination, 0xff, bytes);
}

void EmulatedStream::synchronize() {
  wait_on_host(device_, end());
}

void EmulatedStream::replay(const EmulatedCapture& capture) {
  const std::uint32_t correlation = device_.log().next_correlation();
  const Clock::time_point submitted = launch_on_host(device_, correlation);
  const std::lock_guard lock(mutex_);
  std::vector<Clock::time_point> lanes(capture.lanes_.size(), std::max(end_, submitted)), marks(capture.marks_);
  for (const EmulatedCapture::Step& step : capture.steps_) {
    Clock::time_point& lane = lanes[step.lane];
    if (step.kind == EmulatedCapture::Step::Kind::mark) {
      marks[step.mark] = lane;
    } else if (step.kind == EmulatedCapture::Step::Kind::wait) {
      lane = std::max(lane, marks[step.mark]);
    } else {
      const Booking time = step.work.engine->book(lane, step.work.length);
      lane = time.end;
      if (device_.log().records()) {
        device_.log().add({step.work.span_class, step.work.name, step.lane == 0 ? lane_ : capture.lanes_[step.lane],
                           *device_.tracer_index(), correlation, time});
      }
    }
  }
  end_ = *std::ranges::max_element(lanes);
}

void EmulatedEvent::wait() const {
  wait_on_host(device_, at());
}

void EmulatedCapture::join(EmulatedStream& stream) {
  stream.capture_ = shared_from_this();
  stream.capture_lane_ = streams_.size();
  streams_.push_back(&stream);
  lanes_.push_back(stream.lane());
}

void EmulatedCapture::end() {
  for (EmulatedStream* const stream : streams_) stream->capture_ = nullptr;
  streams_.clear();
}

EmulatedRecording::EmulatedRecording(EmulatedStream& recorder, std::span<const RecordedWork> work)
    : capture_(std::make_shared<EmulatedCapture>()) {
  capture_->join(recorder);
  try {
    for (const RecordedWork& piece : work) piece.queue(recorder);
  } catch (...) {
    capture_->end();
    throw;
  }
  capture_->end();
}

}  // namespace gpubench
