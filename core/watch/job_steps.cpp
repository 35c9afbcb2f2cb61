#include "core/watch/job_steps.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "core/watch/job_cycles.h"

namespace gpubench {
namespace {

constexpr std::size_t parts_count = job_step_parts.names.size();

constexpr std::size_t index_of(JobStepPart part) {
  return static_cast<std::size_t>(part);
}

double sum_of_values(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

template <class Value>
std::vector<double> series(const std::vector<Cycle>& cycles, const Value& value) {
  std::vector<double> values;
  values.reserve(cycles.size());
  for (const Cycle& cycle : cycles) values.push_back(value(cycle));
  return values;
}

/// A ratio of sums: its interval is that of the mean of what each step differs from the ratio (the delta method).
Estimate share_of(const std::vector<double>& part_s, const std::vector<double>& all_s) {
  const double all = sum_of_values(all_s), share = all > 0 ? sum_of_values(part_s) / all : 0;
  const double mean_s = all / static_cast<double>(all_s.size());
  std::vector<double> differences(part_s.size());
  for (std::size_t i = 0; i < part_s.size(); ++i)
    differences[i] = mean_s > 0 ? (part_s[i] - share * all_s[i]) / mean_s : 0;
  const Interval around = estimate_mean(differences).interval;
  return {share,
          {std::clamp(share + around.low, 0.0, share), std::clamp(share + around.high, share, std::max(share, 1.0))}};
}

void set_parts(const std::vector<Cycle>& cycles, JobSteps& result) {
  constexpr double noticeable = 0.01;
  const std::vector<double> all_s = series(cycles, [](const Cycle& cycle) { return cycle.seconds(); });
  for (std::size_t part = 0; part < parts_count; ++part) {
    const std::vector<double> part_s = series(cycles, [&](const Cycle& cycle) { return cycle.parts[part]; });
    const auto bursts = std::ranges::count_if(part_s, [&](double s) { return s > noticeable * result.step_s.value; });
    result.parts.push_back({.part = static_cast<JobStepPart>(part),
                            .share = share_of(part_s, all_s),
                            .seconds_per_step = sum_of_values(part_s) / static_cast<double>(cycles.size()),
                            .steps_with_it = static_cast<std::size_t>(bursts)});
  }
  double other_s = 0;
  for (const Cycle& cycle : cycles) {
    double known_s = 0;
    for (std::size_t part = 0; part < parts_count; ++part)
      if (part != index_of(JobStepPart::loading)) known_s += cycle.parts[part];
    other_s += std::max(cycle.seconds() - known_s, 0.0);
  }
  result.other_share = result.seconds > 0 ? other_s / result.seconds : 0;
}

void set_kinds(const JobCycles& all, JobSteps& result) {
  const std::vector<Cycle>& cycles = all.cycles;
  const auto steps = static_cast<double>(cycles.size());
  const auto share = [&](double seconds) { return result.seconds > 0 ? seconds / result.seconds : 0; };
  std::optional<double> plain_s;
  for (const StepKind kind : {StepKind::training, StepKind::first_of_epoch, StepKind::compile, StepKind::checkpoint}) {
    std::vector<double> seconds;
    double wait_s = 0;
    for (const Cycle& cycle : cycles) {
      if (cycle.kind != kind) continue;
      seconds.push_back(cycle.own_s);
      wait_s += cycle.own_wait_s;
    }
    if (seconds.empty()) continue;
    const double sum = sum_of_values(seconds);
    const auto count = static_cast<double>(seconds.size());
    if (kind == StepKind::training) plain_s = sum / count;
    result.kinds.push_back({.kind = kind,
                            .count = seconds.size(),
                            .step_s = estimate_mean(seconds),
                            .share = share(sum),
                            .input_wait_share = sum > 0 ? wait_s / sum : 0,
                            .extra_s = plain_s ? (sum - count * *plain_s) / steps : 0});
  }
  if (!all.evaluated_s.empty()) {
    double sum = 0;
    for (const Cycle& cycle : cycles) sum += cycle.parts[index_of(JobStepPart::evaluation)];
    result.kinds.push_back({.kind = StepKind::evaluation,
                            .count = all.evaluated_s.size(),
                            .step_s = estimate_mean(all.evaluated_s),
                            .share = share(sum),
                            .input_wait_share = sum > 0 ? std::min(all.evaluation_wait_s / sum, 1.0) : 0,
                            .extra_s = sum / steps});
  }
  std::ranges::sort(result.kinds, {}, &KindOfSteps::kind);
}

void set_main_thread(const std::vector<Cycle>& cycles, JobSteps& result) {
  double cpu_s = 0, switches = 0;
  for (const Cycle& cycle : cycles) cpu_s += cycle.main_thread_s, switches += cycle.switches;
  if (cpu_s <= 0 || result.seconds <= 0) return;  // the agent does not tell
  result.main_thread_share = cpu_s / result.seconds;
  result.involuntary_switches_per_s = switches / result.seconds;
}

void set_sites(const AgentProcess& process, JobSteps& result) {
  const std::uint64_t since = process.sites_since;
  std::uint64_t before = std::min(since, process.first_step);  // of forgotten records all are taken for training
  for (std::size_t i = 0; i < process.steps.size() && process.first_step + i < since; ++i)
    before += process.steps[i].is_training ? 1 : 0;
  if (process.training_steps <= before || result.step_s.value <= 0) return;
  const auto steps = static_cast<double>(process.training_steps - before);
  for (const AgentSite& site : process.sites) {
    if (site.times == 0) continue;
    StepSite one{.site = &site,
                 .times_per_step = static_cast<double>(site.times) / steps,
                 .seconds_per_step = site.seconds / steps};
    one.share = std::min(one.seconds_per_step / result.step_s.value, 1.0);
    if (site.kind == SiteKind::stack) {
      const auto samples = static_cast<double>(std::max(process.stack_samples, site.times));
      one.share = static_cast<double>(site.times) / samples;
    }
    result.sites.push_back(one);
  }
  std::ranges::stable_sort(result.sites, [](const StepSite& a, const StepSite& b) {
    if (a.site->kind != b.site->kind) return a.site->kind < b.site->kind;
    return a.share > b.share;
  });
}

void set_spans(const std::vector<Cycle>& cycles, JobSteps& result) {
  for (const Cycle& cycle : cycles) {
    if (!result.spans.empty() && result.spans.back().end == cycle.span.begin) {
      result.spans.back().end = cycle.span.end;
    } else {
      result.spans.push_back(cycle.span);
    }
  }
}

std::string why_no_steps(const AgentProcess& process, std::size_t counted, const JobSteps& result,
                         const JobStepsOptions& options) {
  if (!process.has_counters) return "the agent has written no counters";
  if (process.training_steps == 0 && process.steps_in_all == 0) return "the agent has seen no step";
  if (process.training_steps == 0) return "the agent has seen no training step, only evaluation";
  return fmt::format("of {} training steps {} are left behind the warm-up and outside of the window; {} are needed",
                     process.training_steps, counted, std::max<std::size_t>(options.least_steps, 1)) +
         (result.forgotten_steps > 0 ? fmt::format(" ({} are forgotten)", result.forgotten_steps) : "");
}

}  // namespace

const KindOfSteps* JobSteps::kind(StepKind which) const {
  const auto at = std::ranges::find(kinds, which, &KindOfSteps::kind);
  return at == kinds.end() ? nullptr : &*at;
}

JobSteps job_steps(const AgentProcess& process, const JobStepsOptions& options) {
  const JobCycles all = job_cycles(process, options);
  const std::vector<Cycle>& cycles = all.cycles;
  JobSteps result;
  result.forgotten_steps = process.first_step;
  result.warmup_steps = all.warmup_steps;
  result.window_steps = all.window_steps;
  result.window = all.window;
  result.cut_parts = all.cut_parts;
  result.kept_steps = all.kept_s.size();
  if (!all.kept_s.empty()) result.kept_step_s = estimate_mean(all.kept_s);
  set_spans(cycles, result);
  const std::vector<double> seconds = series(cycles, [](const Cycle& cycle) { return cycle.seconds(); });
  result.seconds = sum_of_values(seconds);
  if (cycles.size() < std::max<std::size_t>(options.least_steps, 1) || result.seconds <= 0) {
    result.why_none = why_no_steps(process, cycles.size(), result, options);
    result.seconds = 0;
    return result;
  }
  result.steps = cycles.size();
  result.step_s = estimate_mean(seconds);
  double batches = 0;
  for (const Cycle& cycle : cycles) batches += static_cast<double>(cycle.batches);
  result.batches_per_step = batches / static_cast<double>(cycles.size());
  set_parts(cycles, result);
  set_kinds(all, result);
  set_main_thread(cycles, result);
  set_sites(process, result);
  return result;
}

std::vector<const AgentProcess*> workers_of(const AgentFiles& files, const AgentProcess& rank) {
  std::unordered_map<std::uint64_t, std::uint64_t> parents;
  for (const AgentProcess& one : files.processes) parents[static_cast<std::uint64_t>(one.process)] = one.parent;
  const auto descends = [&](const AgentProcess& one) {
    std::uint64_t above = one.parent;
    for (std::size_t i = 0; i <= parents.size(); ++i) {  // parents of others may lead in circles
      if (above == static_cast<std::uint64_t>(rank.process)) return true;
      const auto next = parents.find(above);
      if (next == parents.end()) return false;
      above = next->second;
    }
    return false;
  };
  std::vector<const AgentProcess*> workers;
  for (const AgentProcess& one : files.processes)
    if (&one != &rank && one.training_steps == 0 && descends(one)) workers.push_back(&one);
  return workers;
}

std::vector<WorkerSite> worker_sites(const AgentFiles& files, const AgentProcess& rank) {
  std::map<std::tuple<SiteKind, std::string, std::uint32_t, std::string>, WorkerSite> sums;
  for (const AgentProcess* const worker : workers_of(files, rank)) {
    for (const AgentSite& site : worker->sites) {
      if (site.times == 0) continue;
      WorkerSite& sum = sums[{site.kind, site.file, site.line, site.function}];
      sum.kind = site.kind;
      sum.function = site.function;
      sum.file = site.file;
      sum.line = site.line;
      ++sum.workers;
      sum.times += site.times;
      sum.seconds += site.seconds;
      sum.longest_s = std::max(sum.longest_s, site.longest_s);
    }
  }
  std::vector<WorkerSite> sites;
  for (auto& [key, sum] : sums) sites.push_back(std::move(sum));
  std::ranges::stable_sort(sites, [](const WorkerSite& a, const WorkerSite& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.seconds > b.seconds;
  });
  return sites;
}

}  // namespace gpubench
