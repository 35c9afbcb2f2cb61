#include "core/watch/job_cycles.h"

#include <algorithm>
#include <numeric>

#include "core/measure/estimate.h"
#include "core/measure/warmup.h"

namespace gpubench {
namespace {

constexpr std::size_t evaluation_part = static_cast<std::size_t>(JobStepPart::evaluation);
constexpr std::size_t input_wait_part = static_cast<std::size_t>(JobStepPart::input_wait);

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

/// How many training steps the warm-up has, by their times.
std::size_t settled_after(const std::vector<double>& seconds, std::size_t most) {
  constexpr double shortest_s = 1e-9;
  Warmup warmup(
      {.window_time = Seconds(std::max(estimate_median(seconds).value, shortest_s)), .max_time = Seconds(1e9)});
  std::size_t count = 0;
  while (count < std::min(most, seconds.size()) && !warmup.add(std::max(seconds[count], shortest_s))) ++count;
  return count;
}

/// The first record behind the warm-up.
std::size_t end_of_warmup(const Records& records, const AgentProcess& process, const JobStepsOptions& options) {
  if (records.number(0) > 0 && process.sites_since <= records.number(0)) return 1;  // its records are forgotten
  std::vector<double> seconds;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i].is_training || records.is_disturbed(i)) continue;
    places.push_back(i);
    if (i > 0) seconds.push_back(records.seconds(i));  // the first record has no duration
  }
  std::size_t steps = options.least_warmup;
  if (process.sites_since == 0) {
    const auto most = static_cast<std::size_t>(options.most_warmup_share * static_cast<double>(places.size()));
    steps = std::max(steps, settled_after(seconds, most));
  }
  std::size_t end = steps < places.size() ? places[steps] : records.size();
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
  CycleCollector(const Records& records, JobCycles& result) : records_(records), result_(result) {}

  void add(std::size_t i) {
    const AgentStep& step = records_[i];
    if (cycle_.span.begin == Clock::time_point{}) cycle_.span.begin = records_.span(i).begin;
    cycle_.main_thread_s += std::max(step.main_thread_cpu_s - records_[i - 1].main_thread_cpu_s, 0.0);
    if (step.involuntary_switches >= records_[i - 1].involuntary_switches)
      cycle_.switches += static_cast<double>(step.involuntary_switches - records_[i - 1].involuntary_switches);
    if (!step.is_training) {
      begins_epoch_ = begins_epoch_ || step.first_of_epoch;
      evaluated_s_.push_back(records_.seconds(i));
      evaluation_wait_s_ += std::min(step.part(JobStepPart::input_wait), records_.seconds(i));
      return;
    }
    finish(step, records_.span(i).end);
  }
  /// What has not led to a training step does not count.
  void drop() {
    cycle_ = {};
    begins_epoch_ = false;
    evaluated_s_.clear();
    evaluation_wait_s_ = 0;
  }

 private:
  void finish(const AgentStep& step, Clock::time_point end) {
    cycle_.span.end = end;
    // The mark may have been set before the evaluation at the end of an epoch.
    cycle_.kind = begins_epoch_ ? StepKind::first_of_epoch : kind_of(step);
    for (std::size_t part = 0; part < cycle_.parts.size(); ++part)
      cycle_.parts[part] = cut(step.parts[part], cycle_.seconds(), result_.cut_parts);
    // The agent's figure contains the batches that have records; without one, they are all that is known.
    double& evaluation_s = cycle_.parts[evaluation_part];
    if (evaluation_s == 0) evaluation_s = std::accumulate(evaluated_s_.begin(), evaluated_s_.end(), 0.0);
    cycle_.own_s = cycle_.seconds() - evaluation_s;
    cycle_.own_wait_s = std::min(cycle_.parts[input_wait_part], cycle_.own_s);
    cycle_.batches = step.batches;
    if (evaluated_s_.empty() && evaluation_s > 0) evaluated_s_.push_back(evaluation_s);
    result_.evaluated_s.insert(result_.evaluated_s.end(), evaluated_s_.begin(), evaluated_s_.end());
    result_.evaluation_wait_s += evaluation_wait_s_;
    result_.cycles.push_back(cycle_);
    drop();
  }

  const Records& records_;
  JobCycles& result_;
  Cycle cycle_{};
  bool begins_epoch_ = false;
  std::vector<double> evaluated_s_;  // since the last training step
  double evaluation_wait_s_ = 0;
};

}  // namespace

JobCycles job_cycles(const AgentProcess& process, const JobStepsOptions& options) {
  const Records records(process);
  JobCycles result;
  if (records.size() == 0) return result;
  const std::size_t begin = end_of_warmup(records, process, options);
  CycleCollector collector(records, result);
  bool on_kept_batches = false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].on_kept_batches) {
      if (on_kept_batches && records[i].is_training) result.kept_s.push_back(records.seconds(i));
      on_kept_batches = true;
    } else if (records.is_disturbed(i)) {
      collector.drop();
      ++result.window_steps;
      if (i == 0) continue;
      if (!result.window) result.window = records.span(i);
      result.window->end = records.span(i).end;
    } else if (i < begin) {
      if (records[i].is_training) ++result.warmup_steps;
    } else if (!on_kept_batches) {  // behind them, loaders have had time to fill their queues
      collector.add(i);
    }
  }
  return result;
}

}  // namespace gpubench
