#include "core/data/tune/measured_load.h"

#include <algorithm>

namespace gpubench {
namespace {

constexpr Seconds nothing{0.0};

/// How long consumers of stages that feed `stage` waited: that is no work of its source.
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
  // Waiting for a core is spread over what the threads were at.
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

}  // namespace gpubench
