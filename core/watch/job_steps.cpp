#include "core/watch/job_steps.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "core/measure/warmup.h"

namespace gpubench {
namespace {

constexpr std::size_t parts_count = job_step_parts.names.size();
using Parts = std::array<double, parts_count>;

constexpr std::size_t index_of(JobStepPart part) {
  return static_cast<std::size_t>(part);
}

/// A training step with what lies between it and the one before it.
struct Cycle {
  TimeSpan span;
  StepKind kind = StepKind::training;
  double own_s = 0;       // of the training step alone, without evaluation
  double own_wait_s = 0;  // for batches, of it
  Parts parts{};
  std::uint64_t batches = 0;
  double main_thread_s = 0;
  double switches = 0;

  double seconds() const { return span.seconds(); }
};

struct Evaluated {
  std::vector<double> seconds;  // of each batch
  double wait_s = 0;
};

StepKind kind_of(const AgentStep& step) {
  if (!step.is_training) return StepKind::evaluation;
  if (step.compiled) return StepKind::compile;
  if (step.saved) return StepKind::checkpoint;
  if (step.first_of_epoch) return StepKind::first_of_epoch;
  return StepKind::training;
}

/// The records of a process with their durations. The first has none: what was before it is unknown.
class Records {
 public:
  explicit Records(const AgentProcess& process) : process_(process), steps_(process.steps) {}

  std::size_t size() const { return steps_.size(); }
  const AgentStep& operator[](std::size_t i) const { return steps_[i]; }
  std::uint64_t number(std::size_t i) const { return process_.first_step + i; }
  TimeSpan span(std::size_t i) const { return {steps_[i - 1].end, steps_[i].end}; }
  double seconds(std::size_t i) const { return span(i).seconds(); }

  /// The profiler is written in the first step behind the window.
  bool is_disturbed(std::size_t i) const {
    if (steps_[i].in_window || (i > 0 && steps_[i - 1].in_window)) return true;
    const bool has_window = process_.window == WindowState::records || process_.window == WindowState::written ||
                            process_.window == WindowState::failed;
    const bool has_numbers = has_window && process_.window_end > process_.window_begin;
    return has_numbers && number(i) >= process_.window_begin && number(i) <= process_.window_end;
  }

 private:
  const AgentProcess& process_;
  const std::vector<AgentStep>& steps_;
};

double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The first record behind the warm-up.
std::size_t end_of_warmup(const Records& records, const AgentProcess& process, const JobStepsOptions& options) {
  std::vector<double> seconds;
  std::vector<std::size_t> places;
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (!records[i].is_training || records[i].on_kept_batches || records.is_disturbed(i)) continue;
    seconds.push_back(records.seconds(i));
    places.push_back(i);
  }
  if (seconds.empty()) return records.size();
  std::size_t end = 0;
  const bool was_forgotten = records.number(0) > 0;
  if (!was_forgotten) {
    // The first training step that the ring has may be the first record, which has no duration.
    const std::size_t without_duration = records[0].is_training ? 1 : 0;
    const auto most = static_cast<std::size_t>(options.most_warmup_share * static_cast<double>(seconds.size()));
    const std::size_t least = options.least_warmup - std::min(options.least_warmup, without_duration);
    const double middle = std::max(middle_of(seconds), 1e-9);
    Warmup warmup({.window_time = Seconds(middle), .max_time = Seconds(1e9)});
    std::size_t count = 0;
    for (bool is_over = false; count < seconds.size() && count < std::max(least, most); ++count) {
      if (is_over && count >= least) break;
      is_over = warmup.add(std::max(seconds[count], 1e-9)) || is_over;
    }
    end = count < places.size() ? places[count] : records.size();
  }
  while (end < records.size() && records.number(end) < process.sites_since) ++end;
  return std::max<std::size_t>(end, 1);
}

/// Cuts it to the step that it was in. A hundredth and a millisecond more are accepted: two clocks were read.
double cut(double part_s, double step_s, std::size_t& count) {
  if (part_s > 1.01 * step_s + 1e-3) ++count;
  return std::min(part_s, step_s);
}

class CycleCollector {
 public:
  explicit CycleCollector(const Records& records) : records_(records) {}

  void add(std::size_t i) {
    const AgentStep& step = records_[i];
    if (cycle_.span.begin == Clock::time_point{}) cycle_.span.begin = records_.span(i).begin;
    cycle_.main_thread_s += std::max(step.main_thread_cpu_s - records_[i - 1].main_thread_cpu_s, 0.0);
    if (step.involuntary_switches >= records_[i - 1].involuntary_switches)
      cycle_.switches += static_cast<double>(step.involuntary_switches - records_[i - 1].involuntary_switches);
    if (!step.is_training) {
      evaluated_s_ += records_.seconds(i);
      waiting_.seconds.push_back(records_.seconds(i));
      waiting_.wait_s += std::min(step.part(JobStepPart::input_wait), records_.seconds(i));
      return;
    }
    finish(step, records_.span(i).end);
  }
  /// What has not led to a training step does not count.
  void drop() {
    cycle_ = {};
    evaluated_s_ = 0;
    waiting_ = {};
  }

  std::vector<Cycle> cycles;
  Evaluated evaluated;
  std::size_t cut_parts = 0;

 private:
  void finish(const AgentStep& step, Clock::time_point end) {
    cycle_.span.end = end;
    cycle_.kind = kind_of(step);
    for (std::size_t part = 0; part < parts_count; ++part)
      cycle_.parts[part] = cut(step.parts[part], cycle_.seconds(), cut_parts);
    // The agent's figure contains the batches that have records; without one, they are all that is known.
    double& evaluation_s = cycle_.parts[index_of(JobStepPart::evaluation)];
    if (evaluation_s == 0) evaluation_s = evaluated_s_;
    cycle_.own_s = cycle_.seconds() - evaluation_s;
    cycle_.own_wait_s = std::min(cycle_.parts[index_of(JobStepPart::input_wait)], cycle_.own_s);
    cycle_.batches = step.batches;
    if (waiting_.seconds.empty() && evaluation_s > 0) waiting_.seconds.push_back(evaluation_s);
    evaluated.seconds.insert(evaluated.seconds.end(), waiting_.seconds.begin(), waiting_.seconds.end());
    evaluated.wait_s += waiting_.wait_s;
    cycles.push_back(cycle_);
    drop();
  }

  const Records& records_;
  Cycle cycle_{};
  double evaluated_s_ = 0;
  Evaluated waiting_;
};

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

void set_kinds(const std::vector<Cycle>& cycles, const Evaluated& evaluated, JobSteps& result) {
  const auto steps = static_cast<double>(cycles.size());
  const auto share = [&](double seconds) { return result.seconds > 0 ? seconds / result.seconds : 0; };
  std::optional<double> plain_s;
  for (const StepKind kind : {StepKind::training, StepKind::compile, StepKind::checkpoint, StepKind::first_of_epoch}) {
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
  if (!evaluated.seconds.empty()) {
    double sum = 0;
    for (const Cycle& cycle : cycles) sum += cycle.parts[index_of(JobStepPart::evaluation)];
    result.kinds.push_back({.kind = StepKind::evaluation,
                            .count = evaluated.seconds.size(),
                            .step_s = estimate_mean(evaluated.seconds),
                            .share = share(sum),
                            .input_wait_share = sum > 0 ? std::min(evaluated.wait_s / sum, 1.0) : 0,
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

void set_sites(const AgentProcess& process, const Records& records, JobSteps& result) {
  const std::uint64_t since = process.sites_since;
  std::uint64_t before = std::min(since, process.first_step);  // of forgotten records all are taken for training
  for (std::size_t i = 0; i < records.size() && records.number(i) < since; ++i)
    before += records[i].is_training ? 1 : 0;
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

void set_kept_steps(const Records& records, JobSteps& result) {
  std::vector<double> seconds;
  bool is_first = true;
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (!records[i].on_kept_batches || !records[i].is_training) continue;
    if (!is_first) seconds.push_back(records.seconds(i));
    is_first = false;
  }
  result.kept_steps = seconds.size();
  if (!seconds.empty()) result.kept_step_s = estimate_mean(seconds);
}

void set_spans(const std::vector<Cycle>& cycles, const Records& records, JobSteps& result) {
  for (const Cycle& cycle : cycles) {
    if (!result.spans.empty() && result.spans.back().end == cycle.span.begin) {
      result.spans.back().end = cycle.span.end;
    } else {
      result.spans.push_back(cycle.span);
    }
  }
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (!records.is_disturbed(i)) continue;
    ++result.window_steps;
    if (!result.window) result.window = records.span(i);
    result.window->end = records.span(i).end;
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
  const Records records(process);
  JobSteps result;
  result.forgotten_steps = process.first_step;
  const std::size_t begin = records.size() > 0 ? end_of_warmup(records, process, options) : 0;
  CycleCollector collector(records);
  for (std::size_t i = 0; i < records.size(); ++i) {
    // Behind steps on kept batches, loaders have had time to fill their queues.
    if (records[i].on_kept_batches) break;
    if (i < begin) {
      if (records[i].is_training) ++result.warmup_steps;
    } else if (records.is_disturbed(i)) {
      collector.drop();
    } else {
      collector.add(i);
    }
  }
  const std::vector<Cycle>& cycles = collector.cycles;
  set_spans(cycles, records, result);
  set_kept_steps(records, result);
  result.cut_parts = collector.cut_parts;
  const std::vector<double> seconds = series(cycles, [](const Cycle& cycle) { return cycle.seconds(); });
  result.seconds = sum_of_values(seconds);
  if (cycles.size() < std::max<std::size_t>(options.least_steps, 1) || result.seconds <= 0) {
    result.why_none = why_no_steps(process, cycles.size(), result, options);
    result.seconds = 0;
    return result;
  }
  result.steps = cycles.size();
  result.step_s = estimate_mean(seconds);
  std::uint64_t batches = 0;
  for (const Cycle& cycle : cycles) batches += cycle.batches;
  result.batches_per_step = static_cast<double>(batches) / static_cast<double>(cycles.size());
  set_parts(cycles, result);
  set_kinds(cycles, collector.evaluated, result);
  set_main_thread(cycles, result);
  set_sites(process, records, result);
  return result;
}

}  // namespace gpubench
