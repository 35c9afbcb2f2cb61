#include "core/exec/graph_executor.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/base/units.h"

namespace gpubench {
namespace {

constexpr std::size_t labels_in_message = 5;

/// The planned tensors that take most of the memory, for an out-of-memory message.
std::string largest_buffers(const Plan& plan) {
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

}  // namespace

/// A step with its memory: spans into views_.
struct GraphExecutor::Launch {
  Kernel* kernel = nullptr;
  std::size_t device = 0;
  std::size_t source_device = 0;  // of a copy
  std::span<const TensorView> inputs;
  std::span<const TensorView> outputs;
  std::span<std::byte> workspace;
  std::unique_ptr<Event> source_ready;  // of a copy
  bool enters_device = false;           // the launch before ran on another device
};

struct GraphExecutor::InputSlot {
  const TensorType* type = nullptr;
  std::byte* bound = nullptr;        // what the views point to now
  std::vector<std::size_t> readers;  // indices into views_
  Buffer copy;                       // on devices that cannot read host memory in place
};

GraphExecutor::GraphExecutor(Runtime& runtime, const Program& program)
    : runtime_(runtime), plan_(make_plan(program, runtime.devices())) {
  for (const DeviceId& id : plan_.devices) {
    devices_.push_back(&runtime.devices().device(id));
    streams_.push_back(&runtime.stream(id));
  }
  try {
    claim_memory();
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(fmt::format("{}; {}", error.what(), largest_buffers(plan_)));
  }
  run_once_steps();
  bind(false);
}

GraphExecutor::~GraphExecutor() {
  runtime_.synchronize();
}

void GraphExecutor::claim_memory() {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    arenas_.push_back(runtime_.claim_arena(plan_.devices[d], plan_.arena_bytes[d], "arena"));
  }
  constants_.resize(plan_.constants.size());
  for (const PlannedTensor& tensor : plan_.tensors) {
    if (tensor.home != Home::constant) continue;
    Buffer& buffer = constants_[static_cast<std::size_t>(tensor.index)];
    if (buffer.data() != nullptr) continue;
    buffer = devices_[tensor.device]->memory().allocate(tensor.type.bytes(), tensor.label);
    const HostTensor& value = plan_.constants[static_cast<std::size_t>(tensor.index)];
    if (!value.empty()) streams_[tensor.device]->copy(buffer.data(), value.data(), value.bytes());
  }
  slots_.resize(plan_.inputs.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (plan_.inputs[i] < 0) continue;
    const PlannedTensor& tensor = plan_.tensors[static_cast<std::size_t>(plan_.inputs[i])];
    slots_[i].type = &tensor.type;
    if (devices_[tensor.device]->shares_host_memory()) continue;
    slots_[i].copy = devices_[tensor.device]->memory().allocate(tensor.type.bytes(), tensor.label);
    slots_[i].bound = slots_[i].copy.data();
  }
}

std::byte* GraphExecutor::address(int index) const {
  const PlannedTensor& tensor = plan_.tensors[static_cast<std::size_t>(index)];
  const auto at = static_cast<std::size_t>(tensor.index);
  switch (tensor.home) {
    case Home::input:
      return slots_[at].bound;
    case Home::variable:
      return runtime_.variables().view(*plan_.variables[at]).data;
    case Home::constant:
      return constants_[at].data();
    case Home::arena:
      return arenas_[tensor.device].data() + plan_.buffers[at].offset;
  }
  return nullptr;
}

void GraphExecutor::bind(bool once) {
  generations_.clear();
  for (const Arena::Claim& arena : arenas_) generations_.push_back(arena.generation());
  std::size_t count = 0;
  for (const PlannedStep& step : plan_.steps) count += step.inputs.size() + step.outputs.size();
  views_.clear();
  views_.reserve(count);  // the launches hold spans into it
  launches_.clear();
  launches_.reserve(plan_.steps.size());
  for (InputSlot& slot : slots_) slot.readers.clear();

  for (const PlannedStep& step : plan_.steps) {
    if (step.once != once) continue;
    const std::size_t first = views_.size();
    for (const int tensor : step.inputs) {
      const PlannedTensor& planned = plan_.tensors[static_cast<std::size_t>(tensor)];
      if (planned.home == Home::input) slots_[static_cast<std::size_t>(planned.index)].readers.push_back(views_.size());
      views_.push_back({&planned.type, address(tensor)});
    }
    for (const int tensor : step.outputs) {
      views_.push_back({&plan_.tensors[static_cast<std::size_t>(tensor)].type, address(tensor)});
    }
    Launch launch;
    launch.kernel = step.kernel.get();
    launch.device = step.device;
    launch.inputs = {views_.data() + first, step.inputs.size()};
    launch.outputs = {views_.data() + first + step.inputs.size(), step.outputs.size()};
    if (step.workspace >= 0) {
      const PlannedBuffer& buffer = plan_.buffers[static_cast<std::size_t>(step.workspace)];
      launch.workspace = {arenas_[step.device].data() + buffer.offset, step.workspace_bytes};
    }
    if (launch.kernel == nullptr) {
      launch.source_device = plan_.tensors[static_cast<std::size_t>(step.inputs[0])].device;
      launch.source_ready = devices_[launch.source_device]->new_event();
    }
    launch.enters_device = launches_.empty() || launches_.back().device != launch.device;
    launches_.push_back(std::move(launch));
  }
}

void GraphExecutor::run_once_steps() {
  bind(true);
  for (Launch& next : launches_) launch(next);
  runtime_.synchronize();
}

void GraphExecutor::set_inputs(std::span<const TensorView> inputs) {
  assert(inputs.size() >= slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    InputSlot& slot = slots_[i];
    if (slot.type == nullptr) continue;
    assert(*inputs[i].type == *slot.type);
    if (slot.copy.data() != nullptr) {
      const std::size_t device = plan_.tensors[static_cast<std::size_t>(plan_.inputs[i])].device;
      streams_[device]->copy(slot.copy.data(), inputs[i].data, slot.type->bytes());
    } else if (slot.bound != inputs[i].data) {
      slot.bound = inputs[i].data;
      for (const std::size_t reader : slot.readers) views_[reader].data = slot.bound;
    }
  }
}

void GraphExecutor::launch(Launch& launch) {
  if (launch.enters_device) devices_[launch.device]->bind_to_thread();
  Stream& stream = *streams_[launch.device];
  if (launch.kernel != nullptr) {
    launch.kernel->run(stream, launch.inputs, launch.outputs, launch.workspace);
    return;
  }
  streams_[launch.source_device]->record(*launch.source_ready);
  stream.wait_for(*launch.source_ready);
  stream.copy(launch.outputs[0].data, launch.inputs[0].data, launch.inputs[0].type->bytes());
}

bool GraphExecutor::arenas_moved() const {
  for (std::size_t d = 0; d < arenas_.size(); ++d) {
    if (arenas_[d].generation() != generations_[d]) return true;
  }
  return false;
}

void GraphExecutor::run(std::span<const TensorView> inputs) {
  if (arenas_moved()) bind(false);
  set_inputs(inputs);
  for (Launch& next : launches_) launch(next);
}

TensorView GraphExecutor::result(int index) const {
  const int tensor = plan_.outputs[static_cast<std::size_t>(index)];
  return {&plan_.tensors[static_cast<std::size_t>(tensor)].type, address(tensor)};
}

HostTensor GraphExecutor::read(int index) {
  const TensorView view = result(index);
  HostTensor value(*view.type);
  const std::size_t device =
      plan_.tensors[static_cast<std::size_t>(plan_.outputs[static_cast<std::size_t>(index)])].device;
  streams_[device]->copy(value.data(), view.data, value.bytes());
  streams_[device]->synchronize();
  return value;
}

}  // namespace gpubench
