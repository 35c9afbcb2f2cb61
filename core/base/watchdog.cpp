#include "core/base/watchdog.h"

#include <cerrno>

#include "core/base/interrupt.h"
#include "core/base/terminal.h"

namespace gpubench {
namespace {

constexpr std::chrono::milliseconds glance{20};

bool is_asked_to_stop() {
  return interrupt_requested() || timeout_requested();
}

}  // namespace

Watchdog::Watchdog(Clock::duration patience, std::function<void()> end) : patience_(patience), end_(std::move(end)) {
  sem_init(&notified_, 0, 0);
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

Watchdog::~Watchdog() {
  thread_.request_stop();
  notify();
  thread_.join();
  sem_destroy(&notified_);
}

void Watchdog::notify() noexcept {
  sem_post(&notified_);
}

void Watchdog::watch(const std::stop_token& stop) {
  block_signals();  // they are for the script's thread
  while (!stop.stop_requested()) {
    // Asleep until a signal comes: a measurement must not be disturbed.
    if (sem_wait(&notified_) == 0) wait_for_progress(stop);
  }
}

void Watchdog::wait_for_progress(const std::stop_token& stop) {
  unsigned long seen = progress_count();
  Clock::time_point since = Clock::now();
  // A request that is set aside comes back without another signal.
  while ((is_asked_to_stop() || interrupt_signal() != 0) && !stop.stop_requested()) {
    const unsigned long now = progress_count();
    if (now != seen || !is_turn_of_script() || !is_asked_to_stop()) {
      seen = now;
      since = Clock::now();
    } else if (Clock::now() - since >= patience_ && begin_ending()) {
      end_();
    }
    std::this_thread::sleep_for(glance);
  }
}

}  // namespace gpubench
