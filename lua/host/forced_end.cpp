#include "lua/host/forced_end.h"

#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <unistd.h>

#include "core/base/interrupt.h"
#include "core/base/terminal.h"
#include "core/base/units.h"
#include "lua/api/processes.h"
#include "lua/api/session.h"
#include "lua/host/script_runner.h"

namespace gpubench {
namespace {

// What the script has printed, unless its thread is just printing or nobody takes it: this must not block.
void flush_output() {
  if (ftrylockfile(stdout) != 0) return;
  if (takes_output(STDOUT_FILENO)) fflush_unlocked(stdout);
  funlockfile(stdout);
}

// Without stdio, whose lock the script's thread may hold.
void tell(const std::string& text) {
  if (takes_output(STDERR_FILENO)) static_cast<void>(write(STDERR_FILENO, text.data(), text.size()) < 0);
}

GivenUp given_up(const lua::Session& session) {
  if (interrupt_signal() != 0) return {.status = "interrupted", .detail = interruption_text(), .timeout = {}};
  const std::string limit = format_seconds(session.budgets.timeout_s.value_or(0));
  return {.status = "error",
          .detail = "the script could not be stopped when its time was up",
          .timeout = fmt::format("not done after {} (--timeout), and could not be stopped", limit)};
}

}  // namespace

int interrupted_status() noexcept {
  return 128 + interrupt_signal();
}

const char* interruption_text() noexcept {
  switch (interrupt_signal()) {
    case SIGTERM:
      return "interrupted by SIGTERM";
    case SIGHUP:
      return "interrupted by SIGHUP";
    case SIGXFSZ:
      return "interrupted by SIGXFSZ: a file would become larger than this process may write (ulimit -f)";
    default:
      return "interrupted";
  }
}

void end_by_force(lua::Session& session) {
  const bool by_user = interrupt_signal() != 0;
  const GivenUp how = given_up(session);
  const int status = by_user ? interrupted_status() : error_status;
  clear_interrupt();  // nothing stops what finishes the runs; the script's thread cannot leave its turn any more
  std::string text = session.unfinished_runs.give_up(how);
  text += by_user ? fmt::format("{}\n", how.detail) : fmt::format("gpubench: run: {}\n", how.detail);
  if (ProcessGroup* const group = session.group()) group->fail(by_user ? lua::interruption : how.detail, status);
  session.progress_line.hide();
  flush_output();
  tell(text);
  ::_exit(status);
}

}  // namespace gpubench
