#include "lua/host/interrupt_handler.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <pthread.h>
#include <sched.h>

#include "core/base/interrupt.h"
#include "core/base/watchdog.h"
#include "lua/bind/machine.h"

namespace gpubench::lua {
namespace {

// A signal handler has no other way to reach what it should stop.
std::atomic<Machine*> interrupted_machine{nullptr};
std::atomic<Watchdog*> watchdog_of_script{nullptr};
pthread_t script_thread;
// A SIGINT from stop_script() is on its way: it may arrive after a signal of the user, and must not count as the
// second.
std::atomic<bool> sent_by_program{false};
// Threads in stop_script(): their SIGINT must find the handler, not the default action.
std::atomic<int> stopping_threads{0};
// When the first request came, in nanoseconds of the monotonic clock.
std::atomic<std::int64_t> requested_at{0};
// Signals that come together are one request: `timeout` sends its signal to the process and to its group, and a
// terminal's Ctrl-C reaches launchers too, which hand it on. Nobody asks twice as fast.
constexpr std::int64_t one_request_ns = 200'000'000;

// Async-signal-safe.
std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Others have their reasons to come twice: a closing terminal and the shell in it both send SIGHUP.
bool kills_the_second_time(int signal) {
  return (signal == SIGINT || signal == SIGTERM) && now_ns() - requested_at.load() > one_request_ns;
}

// Async-signal-safe.
void handle(int signal) {
  if (pthread_equal(pthread_self(), script_thread) == 0) {
    pthread_kill(script_thread, signal);
    return;
  }
  Machine* machine = interrupted_machine.load();
  const bool from_program = signal == SIGINT && sent_by_program.exchange(false);
  const bool is_requested = interrupt_signal() != 0;
  if (signal == SIGALRM) {
    request_timeout();
    if (!timeout_requested()) return;
  } else if (from_program ? !machine || is_requested : is_requested && !kills_the_second_time(signal)) {
    return;  // what it should stop has ended, or has been told
  } else if (!machine || is_requested) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  } else {
    requested_at = now_ns();
    request_interrupt(signal);
  }
  watchdog_of_script.load()->notify();
  if (machine && is_turn_of_script()) stop_soon(machine->running());
}

constexpr int signals_to_end[] = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};

bool is_ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

}  // namespace

InterruptHandler::InterruptHandler(Watchdog& watchdog) {
  script_thread = pthread_self();
  watchdog_of_script = &watchdog;
  // oneDNN's generated code keeps values below its stack pointer, beyond what a handler on the same stack spares: it
  // would go on with other ones.
  const stack_t stack{.ss_sp = stack_->data(), .ss_flags = 0, .ss_size = stack_->size()};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = &handle;
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_ONSTACK;
  for (const int signal : signals_to_end) {
    if (signal != SIGHUP || !is_ignored(signal)) sigaction(signal, &action, nullptr);
  }
  action.sa_flags |= SA_RESTART;  // what a point is writing when its time is up is written whole
  sigaction(SIGALRM, &action, nullptr);
}

void InterruptHandler::attach(Machine& machine) {
  interrupted_machine = &machine;
}
void InterruptHandler::detach() {
  interrupted_machine = nullptr;
}

void InterruptHandler::stop_script() noexcept {
  ++stopping_threads;
  if (interrupted_machine.load() != nullptr && interrupt_signal() == 0) {
    sent_by_program = true;
    pthread_kill(script_thread, SIGINT);
  }
  --stopping_threads;
}

InterruptHandler::~InterruptHandler() {
  detach();
  while (stopping_threads.load() > 0) sched_yield();
  sched_yield();  // a signal that was sent to this thread is handled when a system call returns
  for (const int signal : signals_to_end) {
    if (signal != SIGHUP || !is_ignored(signal)) std::signal(signal, SIG_DFL);
  }
  std::signal(SIGALRM, SIG_IGN);
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&none, nullptr);
}

}  // namespace gpubench::lua
