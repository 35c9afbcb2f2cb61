#include "core/exec/run/graph_executor.h"

#include <algorithm>
#include <fmt/format.h>

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
                          SpanClass::copy);
  Stream& stream = bound_.device(plan_.tensors[static_cast<std::size_t>(tensor)].device).stream();
  stream.copy(value.data(), view.data, value.bytes());
  stream.synchronize();
  if (communicator_ != nullptr) communicator_->check();
  return value;
}

}  // namespace gpubench
