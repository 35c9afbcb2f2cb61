#include "core/exec/run/graph_executor.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/units.h"

namespace gpubench {
namespace {

/// The planned tensors with the most memory, for an out-of-memory message.
std::string largest_buffers(const Plan& plan) {
  constexpr std::size_t labels_in_message = 5;
  std::vector<const PlannedBuffer*> buffers;
  for (const PlannedBuffer& buffer : plan.buffers) buffers.push_back(&buffer);
  const std::size_t shown = std::min(labels_in_message, buffers.size());
  std::partial_sort(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(shown), buffers.end(),
                    [](const auto* a, const auto* b) { return a->lifetime.bytes > b->lifetime.bytes; });
  std::string text = "the plan's largest tensors:";
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", buffers[i]->label,
                        format_bytes(static_cast<double>(buffers[i]->lifetime.bytes)));
  }
  return text;
}

/// Calls `claim`; an OutOfMemory then also names the plan's largest tensors.
template <class Claim>
auto claimed_for(const Plan& plan, Claim&& claim) {
  try {
    return claim();
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(fmt::format("{}; {}", error.what(), largest_buffers(plan)));
  }
}

}  // namespace

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

GraphExecutor::Arenas::Arenas(Runtime& runtime, const Plan& plan) {
  for (std::size_t d = 0; d < plan.devices.size(); ++d) {
    device.push_back(runtime.claim_arena(plan.devices[d], plan.arena_bytes[d], "arena"));
  }
  host.resize(plan.devices.size());
  for (std::size_t d = 0; d < plan.devices.size(); ++d) {
    if (plan.host_bytes[d] == 0) continue;
    host[d] = runtime.claim_host_arena(plan.devices[d], plan.host_bytes[d], "offloaded activations");
  }
}

BoundPlan::Memory GraphExecutor::Arenas::memory() const {
  BoundPlan::Memory memory;
  for (const Arena::Claim& arena : device) memory.arenas.push_back(arena.data());
  for (const Arena::Claim& arena : host) memory.host_arenas.push_back(arena.data());
  return memory;
}

std::uint64_t GraphExecutor::Arenas::generation() const {
  std::uint64_t sum = 0;  // each of them only grows
  for (const Arena::Claim& arena : device) sum += arena.generation();
  for (const Arena::Claim& arena : host) sum += arena.generation();
  return sum;
}

GraphExecutor::GraphExecutor(Runtime& runtime, const Program& program, InputFeed feed, Communicator* communicator)
    : runtime_(runtime),
      communicator_(communicator),
      plan_(make_plan(program, runtime.devices())),
      arenas_(claimed_for(plan_, [&] { return Arenas(runtime, plan_); })),
      bound_(claimed_for(plan_, [&] { return BoundPlan(plan_, runtime.devices(), &runtime.variables()); })),
      inputs_(claimed_for(plan_, [&] { return InputSlots(bound_, feed); })),
      segments_(bound_, communicator),
      invariant_(bound_, runtime.variables()) {
  bind();
  invariant_.run_once();
  runtime_.synchronize();
}

GraphExecutor::~GraphExecutor() {
  runtime_.drain();
}

void GraphExecutor::bind() {
  generation_ = arenas_.generation();
  recordings_ = runtime_.recordings();
  bound_.bind(arenas_.memory());
  invariant_.bind();
  segments_.bind(runtime_.spans());
  inputs_.forget_places();
}

void GraphExecutor::renew() {
  if (recordings_ != runtime_.recordings() || generation_ != arenas_.generation()) bind();
}

void GraphExecutor::run(std::span<const TensorView> inputs) {
  const Computation computation;
  renew();
  run_segments(inputs_.set(inputs));
}

void GraphExecutor::run_again() {
  const Computation computation;
  renew();
  run_segments(inputs_.set_again());
}

void GraphExecutor::run_segments(const InputSlots::Reading& reading) {
  HostSpans* const spans = runtime_.spans();
  const SpanScope launching(spans, SpanClass::launch);
  segments_.begin_run();
  invariant_.run_changed(spans);
  segments_.run(reading, spans, runtime_.records());
  invariant_.count_updates();
  inputs_.end_run();
}

std::vector<NodeWork> GraphExecutor::work() const {
  std::vector<NodeWork> all;
  for (const PlannedStep& step : plan_.steps) {
    if (step.work != Work::kernel || step.due != Due::every_run) continue;
    const std::string layer = step.owner == nullptr ? std::string() : step.owner->name;
    all.push_back({{std::string(step.op), layer, std::string(to_string(step.role))},
                   step.flops,
                   step.bytes,
                   std::string(step.kernel->implementation())});
  }
  return all;
}

TensorView GraphExecutor::result(int index) const {
  return bound_.view(plan_.outputs[static_cast<std::size_t>(index)]);
}

HostTensor GraphExecutor::read(int index) {
  const TensorView view = result(index);
  HostTensor value(*view.type);
  const int tensor = plan_.outputs[static_cast<std::size_t>(index)];
  const SpanScope copying(runtime_.copy_spans(plan_.devices[plan_.tensors[static_cast<std::size_t>(tensor)].device]),
                          CopyPath::device_to_host);
  Stream& stream = bound_.device(plan_.tensors[static_cast<std::size_t>(tensor)].device).stream();
  stream.copy(value.data(), view.data, value.bytes());
  stream.synchronize();
  if (communicator_ != nullptr) communicator_->check();
  return value;
}

}  // namespace gpubench
