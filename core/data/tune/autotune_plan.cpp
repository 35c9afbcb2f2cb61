#include "core/data/tune/autotune_plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "core/base/units.h"

namespace gpubench {
namespace {

constexpr Seconds nothing{0.0};

/// How long consumers of the stages that feed `stage` waited, which is no work of its source.
Seconds starved_by_others(std::span<const StageWindow> stages, std::size_t stage) {
  Seconds starved{};
  for (const StageWindow& other : stages) {
    if (other.consumer == stage) starved += other.done.starved;
  }
  return starved;
}

StageLoad load_of(const StageWindow& stage, Seconds starved_source, double delivered, Seconds window) {
  StageLoad load{.knob = stage.knob,
                 .setting = stage.setting,
                 .unit_bytes = stage.done.unit_bytes,
                 .fixed_bytes = stage.done.fixed_bytes};
  load.starved = stage.done.starved / window;
  load.blocked = stage.done.blocked / window;
  if (stage.done.computed <= 0) return load;
  const Seconds source = std::max(stage.done.source - starved_source, nothing);
  const Seconds active = source + stage.done.busy;
  // Time waiting for a core is distributed over the threads' activities in proportion.
  const double with_a_core = active > nothing ? std::max(active - stage.done.threads.ready, nothing) / active : 1.0;
  const double per_output =
      static_cast<double>(stage.done.taken) / delivered / static_cast<double>(stage.done.computed);
  const Seconds least = std::min(stage.done.threads.cpu, active);
  const double scale = active > nothing ? std::max(with_a_core, least / active) : 1.0;
  load.work = stage.done.busy * scale * per_output;
  load.source = source * scale * per_output;
  load.cpu = stage.done.threads.cpu * per_output;
  return load;
}

/// Below this share the consumer itself is the limit; larger values exceed the noise.
constexpr double hardly_starved = 0.02;
/// Target above the consumer's own rate, so that the consumer remains the limit.
constexpr double headroom = 1.1;
/// Workers are whole numbers: a need of up to this fraction of one more is ignored.
constexpr double small_part = 0.05;
constexpr int fastest_growth = 4;
/// Gain that an increase must bring, after a window to take effect: in the pipeline's rate or in the stage's capacity.
/// A busy moment of the machine lowers the rate, but not the capacity.
constexpr double worthwhile = 1.03;
/// Factor for stages whose consumer still waits, and its maximum.
constexpr double more_surplus = 1.5;
constexpr double most_surplus = 4.0;
constexpr int windows_of_a_trial = 2;
/// A failed increase is tried again after this many windows, or when the stage's cost has changed by this factor.
constexpr int windows_of_a_ceiling = 40;
constexpr double changed_cost = 1.25;
/// Consecutive windows in which fewer workers were enough before some are removed.
constexpr int windows_to_lower = 3;
constexpr int most_workers = 64;
constexpr int most_buffer = 256;

struct Goal {
  double rate = 0.0;
  std::string limit;
  bool of_consumer = true;
};

Goal goal_of(const PipelineLoad& load, double cores) {
  constexpr double quickest_consumer = 0.005;
  const double own_time = std::max(1.0 - load.starved, quickest_consumer);
  Goal goal{load.rate / own_time * headroom, fmt::format("the consumer could take {:.3g}/s", load.rate / own_time)};
  double cpu = 0.0;
  for (const StageLoad& stage : load.stages) {
    cpu += stage.cpu.count();
    const double serial = stage.source.count() > 0.0 ? 1.0 / stage.source.count() : goal.rate;
    if (serial < goal.rate) goal = {serial, fmt::format("the source gives at most {:.3g}/s", serial), false};
  }
  const double computed = cpu > 0.0 ? cores / cpu : goal.rate;
  if (computed < goal.rate)
    goal = {computed, fmt::format("{:.3g} cores compute at most {:.3g}/s", cores, computed), false};
  return goal;
}

bool differs(double a, double b) {
  return a > b * changed_cost || b > a * changed_cost;
}

}  // namespace

std::int64_t delivered(std::span<const StageWindow> stages) {
  for (const StageWindow& stage : stages) {
    if (stage.consumer == StageWindow::none) return stage.done.taken;
  }
  return 0;
}

PipelineLoad pipeline_load(std::span<const StageWindow> stages, Seconds window) {
  const auto count = static_cast<double>(delivered(stages));
  PipelineLoad load{.rate = count / window.count(), .stages = {}};
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageWindow& stage = stages[i];
    load.stages.push_back(load_of(stage, starved_by_others(stages, i), count, window));
    if (stage.consumer == StageWindow::none) load.starved = std::min(load.starved + stage.done.starved / window, 1.0);
  }
  return load;
}

std::vector<Choice> AutotunePlanner::plan(const PipelineLoad& load) {
  memory_.resize(load.stages.size());
  judge_raise(load);
  std::vector<Choice> choices;
  bool raised = false;
  for (std::size_t i = 0; i < load.stages.size(); ++i) {
    const StageLoad& stage = load.stages[i];
    switch (stage.knob) {
      case Knob::workers:
        choices.push_back(choose_workers(load, i));
        break;
      case Knob::buffer:
        choices.push_back(choose_buffer(stage));
        break;
      case Knob::none:
        choices.push_back({stage.setting, "as asked for"});
    }
  }
  fit_threads(load, choices);
  fit_memory(load, choices);
  for (std::size_t i = 0; i < load.stages.size(); ++i) {
    const bool more = load.stages[i].knob == Knob::workers && choices[i].setting > load.stages[i].setting;
    if (more) memory_[i].before_raise = load.stages[i].setting;
    if (more) memory_[i].work_before_raise = load.stages[i].work.count();
    raised = raised || more;
  }
  if (raised) {
    rate_before_raise_ = load.rate;
    windows_on_trial_ = windows_of_a_trial;
  }
  return choices;
}

void AutotunePlanner::forget_what_changed(const PipelineLoad& load) {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    StageMemory& stage = memory_[i];
    const double work = load.stages[i].work.count();
    if (stage.ceiling > 0 && (++stage.ceiling_age > windows_of_a_ceiling || differs(work, stage.ceiling_work))) {
      stage.ceiling = 0;
    }
    if (stage.surplus > 1.0 && differs(work, stage.surplus_work)) stage.surplus = 1.0;
  }
}

/// Ends the trial of the latest increase: stages whose new workers brought no gain get a ceiling.
void AutotunePlanner::judge_raise(const PipelineLoad& load) {
  forget_what_changed(load);
  if (windows_on_trial_ == 0 || --windows_on_trial_ > 0) return;
  const bool faster = load.rate >= rate_before_raise_ * worthwhile;
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    StageMemory& stage = memory_[i];
    const int before = std::exchange(stage.before_raise, 0);
    const bool surplus = std::exchange(stage.raised_surplus, false);
    if (faster || before == 0) continue;
    const double work = load.stages[i].work.count();
    const bool can_do_more = load.stages[i].setting * stage.work_before_raise >= before * work * worthwhile;
    if (can_do_more && !surplus) continue;
    if (surplus) stage.surplus /= more_surplus;
    stage.ceiling = before;
    stage.ceiling_age = 0;
    stage.ceiling_work = work;
  }
}

Choice AutotunePlanner::choose_workers(const PipelineLoad& load, std::size_t index) {
  const StageLoad& stage = load.stages[index];
  StageMemory& memory = memory_[index];
  const Goal goal = goal_of(load, limits_.cores);
  const double needed = goal.rate * stage.work.count() * (goal.of_consumer ? memory.surplus : 1.0);
  const int wanted =
      static_cast<int>(std::ceil(std::clamp(needed - small_part, 1.0, static_cast<double>(most_workers))));
  const std::string why = fmt::format("{}, one worker {:.3g}/s", goal.limit, 1.0 / std::max(stage.work.count(), 1e-9));

  if (windows_on_trial_ > 0) return {stage.setting, "trying whether these workers help"};
  if (memory.ceiling > 0 && wanted > memory.ceiling) {
    return {memory.ceiling, fmt::format("more than {} workers brought nothing", memory.ceiling)};
  }
  if (wanted > stage.setting) {
    memory.lower_windows = 0;
    if (load.starved < hardly_starved) return {stage.setting, "the consumer hardly waits"};
    return {std::min(wanted, stage.setting * fastest_growth), why};
  }
  if (wanted == stage.setting) {
    memory.lower_windows = 0;
    const int more = static_cast<int>(std::ceil(wanted * more_surplus));
    const bool still_waits = goal.of_consumer && load.starved > hardly_starved && stage.starved > hardly_starved;
    const bool allowed = memory.ceiling == 0 && memory.surplus < most_surplus && more <= most_workers;
    if (!still_waits || !allowed) return {stage.setting, why};
    memory.surplus *= more_surplus;
    memory.surplus_work = stage.work.count();
    memory.raised_surplus = true;
    return {more, "enough on average, but the consumer still waits"};
  }
  memory.lower_most = memory.lower_windows == 0 ? wanted : std::max(memory.lower_most, wanted);
  if (++memory.lower_windows < windows_to_lower) return {stage.setting, why};
  memory.lower_windows = 0;
  return {memory.lower_most, why};
}

/// Both sides wait if the buffer is too small to smooth their fluctuations.
Choice AutotunePlanner::choose_buffer(const StageLoad& stage) const {
  if (stage.starved > hardly_starved && stage.blocked > hardly_starved && stage.setting < most_buffer) {
    return {std::min(2 * stage.setting, most_buffer), "both sides waited: the buffer was too small"};
  }
  if (stage.starved > hardly_starved) return {stage.setting, "the stages before it are the limit"};
  return {stage.setting, "large enough: the consumer hardly waits"};
}

void AutotunePlanner::fit_threads(const PipelineLoad& load, std::vector<Choice>& choices) const {
  if (limits_.threads == 0) return;
  for (;;) {
    int total = 0;
    Choice* largest = nullptr;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (load.stages[i].knob != Knob::workers) continue;
      total += choices[i].setting;
      if (largest == nullptr || choices[i].setting > largest->setting) largest = &choices[i];
    }
    if (total <= limits_.threads || largest->setting == 1) return;
    --largest->setting;
    largest->why = fmt::format("all that {} threads leave", limits_.threads);
  }
}

/// Shrinks buffers first, then workers; at least one of each stays.
void AutotunePlanner::fit_memory(const PipelineLoad& load, std::vector<Choice>& choices) const {
  const auto total_bytes = [&] {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      total += choices[i].setting * load.stages[i].unit_bytes + load.stages[i].fixed_bytes;
    }
    return total;
  };
  for (const Knob knob : {Knob::buffer, Knob::workers}) {
    for (std::int64_t total = total_bytes(); total > limits_.ram_bytes; total = total_bytes()) {
      std::int64_t most = 0;
      std::size_t largest = choices.size();
      for (std::size_t i = 0; i < choices.size(); ++i) {
        const std::int64_t bytes = choices[i].setting * load.stages[i].unit_bytes;
        if (load.stages[i].knob != knob || choices[i].setting == 1 || bytes <= most) continue;
        most = bytes;
        largest = i;
      }
      if (largest == choices.size()) break;
      const std::int64_t unit = load.stages[largest].unit_bytes;
      const std::int64_t fewer = std::max<std::int64_t>((total - limits_.ram_bytes + unit - 1) / unit, 1);
      choices[largest].setting = static_cast<int>(std::max<std::int64_t>(choices[largest].setting - fewer, 1));
      choices[largest].why = fmt::format("all that fits {}", format_bytes(static_cast<double>(limits_.ram_bytes)));
    }
  }
  const std::int64_t least = total_bytes();
  if (least <= limits_.ram_bytes) return;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (load.stages[i].knob == Knob::none) continue;
    choices[i].why =
        fmt::format("the least that works: all stages take {}, more than the budget of {}",
                    format_bytes(static_cast<double>(least)), format_bytes(static_cast<double>(limits_.ram_bytes)));
  }
}

}  // namespace gpubench
