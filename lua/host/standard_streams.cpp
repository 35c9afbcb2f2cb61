#include "lua/host/standard_streams.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "lua/host/script_runner.h"

namespace gpubench {
namespace {

void ignore(int) {}

bool reader_has_left(int descriptor) {
  pollfd state{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return poll(&state, 1, 0) == 1 && (state.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

void open_standard_streams() {
  // open() returns the lowest number that is free.
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDWR);
  if (descriptor > STDERR_FILENO) close(descriptor);
}

void outlive_closed_pipes() {
  // A function, because a program that is started inherits SIG_IGN but no function.
  struct sigaction action {};
  action.sa_handler = &ignore;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &action, nullptr);
}

int end_standard_output(int status) {
  // A full disk shows no sooner than here.
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || status != 0) return status;
  if (reader_has_left(STDOUT_FILENO)) return 128 + SIGPIPE;
  std::fputs("gpubench: not all could be written to the standard output\n", stderr);
  return error_status;
}

}  // namespace gpubench
