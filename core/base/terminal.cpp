#include "core/base/terminal.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/shown_text.h"

namespace gpubench {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

std::optional<int> terminal_columns(int descriptor) {
  constexpr int usual = 80;
  winsize size{};
  if (isatty(descriptor) == 0) return std::nullopt;
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

bool terminal_has_escapes() {
  const std::string_view terminal = variable("TERM");
  return !terminal.empty() && terminal != "dumb";
}

bool terminal_reflows() {
  // tmux reflows, whatever it runs in and hands on from there.
  if (!variable("TMUX").empty()) return true;
  return variable("XTERM_VERSION").empty() && variable("STY").empty() && variable("TERM") != "linux";
}

bool takes_output(int descriptor) {
  pollfd state{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return poll(&state, 1, 0) == 1 && (state.revents & POLLOUT) != 0;
}

void print_message(std::string_view message) {
  std::fputs((shown_message(message) + "\n").c_str(), stderr);
}

void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void run_when_idle() {
  const sched_param none{};
  pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
}

}  // namespace gpubench
