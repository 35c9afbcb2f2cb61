#include "core/run/job_host.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/units.h"
#include "core/run/job_settings.h"
#include "core/run/job_sites.h"
#include "core/traces/causes.h"

namespace gpubench {
namespace {

/// "in 48 of 240 steps; train.py:70 (evaluate) 0.2 times a step, 12 ms".
std::string burst_text(const JobSteps& steps, JobStepPart part, SiteKind sites) {
  const SharePart& own = steps.part(part);
  std::string text = fmt::format("in {} of {} steps", own.steps_with_it, steps.steps);
  if (const std::string where = sites_text(steps, sites); !where.empty()) text += ": " + where;
  return text;
}

/// Of workers in processes of their own, and of the threads of tf.data.
void set_input_processors(Record& row, const WatchedRank& rank) {
  const JobUse& use = rank.use;
  constexpr double nearly_none = 0.1;
  if (!use.processors_s || !use.idle_s || *use.idle_s >= nearly_none * *use.processors_s) return;
  double share = 0;
  if (const double all = use.all().cpu_s; rank.workers && all > 0)
    share = rank.workers->cpu_s * static_cast<double>(rank.local_ranks) / all;
  if (rank.window)
    share =
        std::max(share, pipeline_threads(rank.window->trace, rank.window->window) * use.seconds / *use.processors_s);
  if (share > 0) row.set("input_processor_share", std::min(share, 1.0));
}

}  // namespace

std::vector<HostPart> parts_beside(const JobSteps& steps, const AgentProcess& process) {
  const std::string reason = compile_reason(process);
  return {
      {HostCauseKind::evaluation, steps.share_of(JobStepPart::evaluation),
       burst_text(steps, JobStepPart::evaluation, SiteKind::evaluation)},
      {HostCauseKind::saving, steps.share_of(JobStepPart::saving),
       burst_text(steps, JobStepPart::saving, SiteKind::saving)},
      {HostCauseKind::compilation, steps.share_of(JobStepPart::compile),
       burst_text(steps, JobStepPart::compile, SiteKind::compile) + (reason.empty() ? "" : "; " + reason)},
      {HostCauseKind::callbacks, steps.share_of(JobStepPart::callbacks),
       burst_text(steps, JobStepPart::callbacks, SiteKind::callback)},
  };
}

bool is_beside(const HostPart& part) {
  return part.kind == HostCauseKind::evaluation || part.kind == HostCauseKind::saving ||
         part.kind == HostCauseKind::compilation || part.kind == HostCauseKind::callbacks;
}

bool is_usual_evaluation(const JobSteps& steps) {
  constexpr double most = 1.0 / 3;
  const KindOfSteps* const epochs = steps.kind(StepKind::first_of_epoch);
  return steps.share_of(JobStepPart::evaluation) < most && epochs != nullptr &&
         steps.part(JobStepPart::evaluation).steps_with_it <= epochs->count + 1;
}

bool is_first_compilation(const JobSteps& steps) {
  constexpr std::size_t few = 2;
  return steps.part(JobStepPart::compile).steps_with_it <= few;
}

void set_host_cause(Record& row, std::vector<HostPart> parts, double step_s) {
  std::ranges::stable_sort(parts, std::greater<>(), &HostPart::share);
  constexpr double least = 0.005;
  if (parts.empty() || parts.front().share < least) return;
  const HostPart& most = parts.front();
  row.set("host_cause_kind", std::string(to_string(most.kind)));
  row.set("host_cause_share", std::min(most.share, 1.0));
  std::string text = fmt::format("{} {}", to_string(most.kind), format_seconds(most.share * step_s));
  for (const HostPart& part : parts)
    if (&part != &most && part.share >= most.share / 10 && part.share >= least)
      text += fmt::format(", {} {}", to_string(part.kind), format_seconds(part.share * step_s));
  text += " a step";
  if (!most.text.empty()) text += "; " + most.text;
  row.set("host_cause", text);
}

void set_processors(Record& row, const WatchedRank& rank) {
  const JobUse& use = rank.use;
  if (use.seconds <= 0) return;
  if (const std::optional<double> lost = use.lost_share()) row.set("cpu_lost_share", *lost);
  set_input_processors(row, rank);
  const int number = rank.process->process;
  const JobProcess own = sum_of(use.of({&number, 1}));
  if (own.cpu_s + own.delayed_s <= 0 || !use.processors_s) return;
  const double processors = std::round(*use.processors_s / use.seconds);
  std::optional<double> threads;
  for (const Info* const setting : rank.process->facts_named("setting"))
    if (setting->text("name") == "threads") threads = setting->number("value");
  // One process waits for its own threads where it has more of them than processors, else for somebody else's.
  if (rank.local_ranks < 2 && threads.value_or(0) <= processors) return;
  row.set("thread_wait_share", own.delayed_s / (own.cpu_s + own.delayed_s));
  row.set("local_ranks", static_cast<std::int64_t>(rank.local_ranks));
  row.set("processors", processors);
  if (threads) row.set("rank_threads", *threads);
}

}  // namespace gpubench
