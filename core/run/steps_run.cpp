#include "core/run/steps_run.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/run/agent_folder.h"
#include "core/watch/agent_files.h"
#include "core/watch/job.h"
#include "core/watch/job_tree.h"

namespace gpubench {
namespace {

/// Why a remedy was not in force; empty if all were.
std::string why_not_applied(const AgentProcess& process, const std::vector<std::string>& remedies) {
  for (const std::string& remedy : remedies) {
    const std::string name = remedy.substr(0, remedy.find('='));
    std::string why = "the agent did not apply it";
    for (const Info* const fact : process.facts_named("remedy")) {
      if (fact->text("name") != name || fact->find("applied") == nullptr) continue;
      why = fact->text("applied") == "true" ? "" : fact->text("why_not");
      if (why.empty()) break;
    }
    if (!why.empty()) return name + ": " + why;
  }
  return {};
}

/// Steps, or batches where a step may be a call of several of them.
std::uint64_t progress_of(const AgentProcess& process) {
  return is_call_of_batches(process) ? process.batches : process.training_steps;
}

bool have_steps(const AgentFiles& files, std::uint64_t steps) {
  const std::vector<const AgentProcess*> ranks = files.ranks();
  return !ranks.empty() &&
         std::ranges::all_of(ranks, [&](const AgentProcess* one) { return progress_of(*one) >= steps; });
}

/// The mean of steps [from, to) by the ends of the steps before them and of the last; and when they ran. Of calls of
/// several batches those count that begin behind `from` and are needed to reach `to`.
std::optional<double> mean_step_s(const AgentProcess& process, std::uint64_t from, std::uint64_t to, TimeSpan& span) {
  if (process.first_step > 0 || from == 0 || to <= from) return std::nullopt;
  std::uint64_t done = 0, done_before = 0;
  for (const AgentStep& step : process.steps) {
    if (!step.is_training) continue;
    done += is_call_of_batches(process) ? std::max<std::uint64_t>(step.batches, 1) : 1;
    if (done < from) continue;
    if (done_before == 0) {
      span.begin = step.end;
      done_before = done;
    }
    span.end = step.end;
    if (done >= to && done > done_before) return span.seconds() / static_cast<double>(done - done_before);
  }
  return std::nullopt;
}

}  // namespace

StepsOfRun run_steps(const StepsRun& run) {
  const AgentFolder folder;
  if (folder.path().empty()) throw Error(std::string("tune: ") + AgentFolder::why_none);
  JobCommand command = agent_command(run.command, folder.path(), "none", run.remedies);
  command.is_quiet = true;
  Job job(command);
  JobTree tree(::getpid());
  const Clock::time_point limit = Clock::now() + std::chrono::duration_cast<Clock::duration>(run.time);
  bool was_ended = false;
  while (job.wait_until(tree.next_read())) {
    tree.read();
    if (job.signal_seen() != 0) break;
    const bool is_done = have_steps(read_agent_files(folder.path(), AgentDetail::heads), run.to);
    if (!is_done && Clock::now() < limit) continue;
    was_ended = true;
    break;
  }
  constexpr Seconds grace{3};
  job.end(grace);
  if (job.signal_seen() != 0) return {.asked = job.signal_seen()};
  const AgentFiles files = read_agent_files(folder.path());
  StepsOfRun result;
  const std::vector<const AgentProcess*> ranks = files.ranks();
  if (ranks.empty()) {
    result.why_none = was_ended ? "no step of training was seen in time"
                                : fmt::format("the job ended with status {} before its first step",
                                              job.own_end() ? job.own_end()->shell_status() : 0);
    return result;
  }
  result.why_none = why_not_applied(*ranks.front(), run.remedies);
  if (!result.why_none.empty()) return result;
  for (const AgentProcess* const rank : ranks) {
    TimeSpan span;
    const std::optional<double> own = mean_step_s(*rank, run.from, run.to, span);
    if (!own) {
      result.why_none =
          fmt::format("the job ended after {} steps; {} are needed (--steps)", progress_of(*rank), run.to);
      result.step_s.reset();
      return result;
    }
    result.step_s = std::max(result.step_s.value_or(0), *own);
    result.is_disturbed = result.is_disturbed || tree.use(span).is_disturbed();
  }
  return result;
}

}  // namespace gpubench
