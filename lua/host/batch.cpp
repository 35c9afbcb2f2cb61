#include "lua/host/batch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <sys/wait.h>

#include "core/base/units.h"
#include "core/group/process_group.h"
#include "lua/host/child_program.h"

namespace gpubench {
namespace {

volatile std::sig_atomic_t child = 0, stopped_by = 0;

// A terminal's Ctrl-C reaches the child without us. Sent once by both, it is one request to the child (0.2 s).
void hand_on(int signal) {
  stopped_by = signal;
  if (child > 0) kill(static_cast<pid_t>(child), signal);
}

class HandOn {
 public:
  HandOn() {
    struct sigaction action {};
    action.sa_handler = &hand_on;
    for (std::size_t i = 0; i < signals.size(); ++i) {
      sigaction(signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
    }
  }
  ~HandOn() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
  }
  HandOn(const HandOn&) = delete;
  HandOn& operator=(const HandOn&) = delete;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

/// Its exit status.
int run_one(const std::string& script, const std::vector<std::string>& options) {
  std::vector<std::string> words{"run", script};
  words.insert(words.end(), options.begin(), options.end());
  const pid_t process = start_program(words, -1, "run");
  child = process;
  if (stopped_by != 0) kill(process, stopped_by);  // it came before there was a child
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  return exit_status_of(status);
}

const char* meaning_of(int status) {
  switch (status) {
    case 0:
      return "done";
    case 1:
      return "a claim is refuted";
    case 2:
      return "error";
    case 3:
      return "nothing to judge, or a requirement is not met";
    default:
      return status > 128 ? strsignal(status - 128) : "ended by os.exit";
  }
}

/// The more important of two: 2 before 3 before 1; others, of scripts that ended otherwise, count as errors.
int worse(int one, int other) {
  constexpr std::array by_importance{failed_exit_status, 3, 1, 0};
  const auto rank = [&](int status) {
    const auto* const found = std::ranges::find(by_importance, status);
    return found == by_importance.end() ? by_importance.begin() : found;
  };
  return *std::min(rank(one), rank(other));
}

}  // namespace

int run_each(const std::vector<std::string>& scripts, const std::vector<std::string>& options, bool for_programs) {
  std::FILE* const out = for_programs ? stderr : stdout;
  const HandOn signals;
  std::string summary;
  int worst = 0;
  std::size_t done = 0;
  for (const std::string& script : scripts) {
    if (stopped_by != 0) break;
    const auto began = std::chrono::steady_clock::now();
    const int status = run_one(script, options);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    summary += fmt::format("{:>3}  {:>8}  {}  {}\n", status, format_seconds(took.count()), script, meaning_of(status));
    worst = worse(worst, status);
    ++done;
    fmt::print(out, "\n");
    std::fflush(out);
  }
  fmt::print(out, "exit status, time and script of {}:\n{}", format_count(static_cast<std::int64_t>(done), "script"),
             summary);
  if (stopped_by != 0) {
    fmt::print(stderr, "interrupted: {} not run\n",
               format_count(static_cast<std::int64_t>(scripts.size() - done), "script"));
    return 128 + stopped_by;
  }
  return worst;
}

}  // namespace gpubench
