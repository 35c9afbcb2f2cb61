#include <algorithm>
#include <functional>

#include "core/base/shown_text.h"
#include "core/run/job_row.h"
#include "core/run/job_sites.h"

namespace gpubench {

Info job_facts(const WatchedRank& rank) {
  const AgentProcess& process = *rank.process;
  const JobSteps& steps = rank.steps;
  Info facts(Info::Fields{{"process", process.process},
                          {"script", shown_text(process.script, 300)},
                          {"framework", framework_of(process)},
                          {"step_mark", shown_text(process.step_mark, 120)},
                          {"steps_seen", static_cast<std::int64_t>(process.training_steps)},
                          {"steps_that_count", static_cast<std::int64_t>(steps.steps)},
                          {"seconds", steps.seconds},
                          {"agent_s", process.agent_s},
                          {"agent_in_window_s", process.agent_in_window_s},
                          {"agent_faults", static_cast<std::int64_t>(process.agent_faults)}});
  if (process.rank >= 0) facts.set("rank", process.rank);
  if (!steps.why_none.empty()) facts.set("why_none", steps.why_none);
  Info::List kinds, parts, sites;
  for (const KindOfSteps& kind : steps.kinds)
    kinds.push_back(Info::Fields{{"kind", std::string(step_kinds[kind.kind])},
                                 {"count", static_cast<std::int64_t>(kind.count)},
                                 {"step_s", kind.step_s.value},
                                 {"share", kind.share}});
  for (const SharePart& part : steps.parts)
    if (part.share.value > 0)
      parts.push_back(Info::Fields{{"part", std::string(job_step_parts[part.part])},
                                   {"share", part.share.value},
                                   {"time_s", part.seconds_per_step},
                                   {"steps_with_it", static_cast<std::int64_t>(part.steps_with_it)}});
  constexpr std::size_t most_sites = 24;
  std::vector<StepSite> expensive = steps.sites;
  std::ranges::stable_sort(expensive, std::greater<>(), &StepSite::share);
  for (const StepSite& site : expensive) {
    if (sites.size() == most_sites) break;
    Info one(Info::Fields{{"kind", std::string(site_kinds[site.site->kind])},
                          {"place", place_of(*site.site)},
                          {"file", shown_text(site.site->file, 300)},
                          {"time_s", site.seconds_per_step},
                          {"share", site.share}});
    if (!is_sampled(site.site->kind)) one.set("times_per_step", site.times_per_step);
    sites.push_back(std::move(one));
  }
  facts.set("kinds", std::move(kinds));
  facts.set("parts", std::move(parts));
  facts.set("sites", std::move(sites));
  return facts;
}

}  // namespace gpubench
