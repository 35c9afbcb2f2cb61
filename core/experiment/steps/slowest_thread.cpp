#include "core/experiment/steps/slowest_thread.h"

#include <algorithm>
#include <fmt/format.h>

namespace gpubench {
namespace {

constexpr Seconds no_time{0.0};

Seconds at_least_nothing(Seconds time) {
  return std::max(time, no_time);
}

/// The activity of threads that run the same stages.
struct Threads {
  std::string_view stage;
  double count = 1;
  Seconds pulling{};    ///< in calls of their sources, one at a time
  Seconds computing{};  ///< in parallel; not all of it needs a core
  Seconds blocked{};
  ThreadTimes times{};
  Seconds known_waiting{};  ///< part of `pulling`
};

/// Busy share of the slowest kind of thread, and the part of it that is waiting.
struct Busy {
  double share = 0;
  SlowestThread thread;
};

Busy busy(const Threads& threads, Seconds measured) {
  const Seconds all = threads.count * measured;
  const double not_blocked = 1 - std::min(threads.blocked / all, 1.0);
  const double pulling = std::min(threads.pulling / measured, not_blocked);
  const double computing = std::min(threads.computing / all, not_blocked);
  const bool pulls = pulling >= computing;
  const Seconds here = pulls ? threads.pulling : threads.computing;
  const Seconds elsewhere = pulls ? threads.computing : threads.pulling;
  const Seconds active = here + elsewhere;
  Busy result{std::max(pulling, computing), {threads.stage}};
  if (here <= no_time) return result;

  const Seconds known = pulls ? threads.known_waiting : no_time;
  const bool told = threads.times.cpu > no_time;
  const Seconds ready = std::min(threads.times.ready, active);
  const Seconds with_core = std::max(here * (1 - ready / active), std::max(known, Seconds(1e-9)));
  const Seconds waited = told ? at_least_nothing(active - ready - threads.times.cpu) : here;
  const Seconds least = told ? std::max(at_least_nothing(waited - elsewhere), known) : known;
  result.thread.waited_least = std::min(least / with_core, 1.0);
  result.thread.waited_most = std::clamp(waited / with_core, result.thread.waited_least, 1.0);
  return result;
}

/// Whether threads of several branches run in parallel. An interleave adds its inputs up to one row per stage.
bool has_branches(const Dataset& dataset) {
  if (dataset.sources().size() > 1 && !dataset.interleaves()) return true;
  return std::ranges::any_of(dataset.sources(), [](const DatasetPtr& source) { return has_branches(*source); });
}

}  // namespace

SlowestThread slowest_thread(const std::vector<StageStatistics>& stages, const ThreadTimes& consumer,
                             Seconds measured) {
  Busy slowest;
  Seconds starved{};  // for the earlier threads
  Seconds known{};
  for (const StageStatistics& stage : stages) {
    known += stage.waiting;
    if (stage.workers == 0) continue;
    // A stage that does not report time in its source's calls did nothing else.
    const bool says = stage.source > no_time || stage.busy > no_time;
    const Seconds pulling = says ? stage.source : stage.workers * measured - stage.blocked;
    const Busy its = busy({.stage = stage.stage,
                           .count = static_cast<double>(stage.workers),
                           .pulling = at_least_nothing(pulling - starved),
                           .computing = stage.busy,
                           .blocked = stage.blocked,
                           .times = stage.threads,
                           .known_waiting = known},
                          measured);
    if (its.share > slowest.share) slowest = its;
    starved = stage.starved;
    known = no_time;
  }
  const Busy own =
      busy({.stage = {}, .pulling = at_least_nothing(measured - starved), .times = consumer, .known_waiting = known},
           measured);
  return own.share > slowest.share ? own.thread : slowest.thread;
}

InputCause read_or_processing_bound(const SlowestThread& thread) {
  constexpr double half = 0.5;
  const std::string whose = thread.stage.empty() ? "the consumer's own" : fmt::format("{}'s", thread.stage);
  if (thread.waited_least > half) {
    return {InputCauseKind::reading, fmt::format("read bound, its slowest thread ({}) waits {:.0f} % of its time",
                                                 whose, 50 * (thread.waited_least + thread.waited_most))};
  }
  if (thread.waited_most < half) {
    return {InputCauseKind::processing,
            fmt::format("processing bound, its slowest thread ({}) computes {:.0f} % of its time", whose,
                        100 - 50 * (thread.waited_least + thread.waited_most))};
  }
  return {InputCauseKind::unknown,
          fmt::format("read or processing bound, which cannot be told: its slowest thread ({}) waits between {:.0f} "
                      "and {:.0f} % of its time",
                      whose, 100 * thread.waited_least, 100 * thread.waited_most)};
}

InputCause read_or_processing_bound(const Dataset& dataset, const std::vector<StageStatistics>& stages,
                                    const ThreadTimes& consumer, Seconds measured) {
  const bool has_threads = std::ranges::any_of(stages, [](const StageStatistics& stage) { return stage.workers > 0; });
  if (has_threads && has_branches(dataset)) {
    return {InputCauseKind::unknown,
            "read or processing bound, which cannot be told: branches of the pipeline have threads side by side"};
  }
  return read_or_processing_bound(slowest_thread(stages, consumer, measured));
}

}  // namespace gpubench
