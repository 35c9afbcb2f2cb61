#include "lua/host/batch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

#include "core/base/program.h"
#include "core/base/units.h"
#include "core/group/process_group.h"
#include "core/report/text/text.h"
#include "lua/host/child_process.h"

namespace gpubench {
namespace {

/// The exit status, or 128 + the signal that ended it.
int run_one(ChildProcesses& processes, const std::string& script, const std::vector<std::string>& options) {
  std::vector<std::string> words{program_path().string(), "run", script};
  words.insert(words.end(), options.begin(), options.end());
  return processes.run(words).status;
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
  ChildProcesses processes;
  std::string summary;
  int worst = 0;
  std::size_t done = 0;
  for (const std::string& script : scripts) {
    if (processes.stopped_by() != 0) break;
    const auto began = std::chrono::steady_clock::now();
    const int status = run_one(processes, script, options);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    summary += fmt::format("{:>3}  {:>8}  {}  {}\n", status, format_seconds(took.count()), one_line(script),
                           meaning_of(status));
    worst = worse(worst, status);
    ++done;
    fmt::print(out, "\n");
    std::fflush(out);
  }
  fmt::print(out, "exit status, time and script of {}:\n{}", format_count(static_cast<std::int64_t>(done), "script"),
             summary);
  if (processes.stopped_by() != 0) {
    fmt::print(stderr, "interrupted: {} not run\n",
               format_count(static_cast<std::int64_t>(scripts.size() - done), "script"));
    return 128 + processes.stopped_by();
  }
  return worst;
}

}  // namespace gpubench
