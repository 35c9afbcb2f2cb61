#include "core/exec/run/invariant_steps.h"

#include <algorithm>
#include <limits>
#include <set>

namespace gpubench {

InvariantSteps::InvariantSteps(const BoundPlan& bound, const VariableStore& variables) : bound_(bound) {
  const Plan& plan = bound.plan();
  std::set<int> watched, updated;
  const auto find_variables = [&](const std::vector<int>& tensors, std::set<int>& found) {
    for (const int tensor : tensors) {
      const PlannedTensor& planned = plan.tensors[static_cast<std::size_t>(tensor)];
      if (planned.home == Home::variable) found.insert(planned.index);
    }
  };
  for (const PlannedStep& step : plan.steps) {
    if (step.due == Due::on_change) find_variables(step.inputs, watched);
    find_variables(step.outputs, updated);
  }
  constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  const auto writes = [&](int index) -> std::atomic<std::uint64_t>& {
    return variables.writes(*plan.variables[static_cast<std::size_t>(index)]);
  };
  for (const int index : watched) watched_.push_back({&writes(index), never});
  for (const int index : updated) updated_.push_back(&writes(index));
}

void InvariantSteps::bind() {
  once_.clear();
  on_change_.clear();
  const std::vector<PlannedStep>& steps = bound_.plan().steps;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].due == Due::every_run) continue;
    auto& launches = steps[s].due == Due::once ? once_ : on_change_;
    launches.push_back({&bound_.device(steps[s].device), {steps[s].kernel.get(), bound_.step(s)}});
  }
}

void InvariantSteps::queue(const std::vector<DeviceLaunch>& launches) {
  for (const auto& [device, launch] : launches) {
    device->bind_to_thread();
    launch.queue(device->stream());
  }
}

void InvariantSteps::run_once() {
  queue(once_);
}

void InvariantSteps::run_changed(HostSpans* spans) {
  bool changed = false;
  for (Watched& variable : watched_) {
    const std::uint64_t writes = variable.writes->load(std::memory_order_relaxed);
    changed = changed || variable.seen != writes;
    variable.seen = writes;
  }
  if (!changed) return;
  const bool on_host =
      std::ranges::all_of(on_change_, [](const DeviceLaunch& one) { return one.device->shares_host_memory(); });
  const SpanScope scope(spans, on_host ? SpanClass::compute : SpanClass::launch, "steps of changed variables");
  queue(on_change_);
}

void InvariantSteps::count_updates() {
  for (std::atomic<std::uint64_t>* const writes : updated_) writes->fetch_add(1, std::memory_order_relaxed);
}

}  // namespace gpubench
