#include "core/exec/run/bound_plan.h"

#include "core/device/device.h"

namespace gpubench {

BoundPlan::BoundPlan(const Plan& plan, const Devices& devices, const VariableStore* variables)
    : plan_(plan), variables_(variables), ports_(plan.inputs.size()), port_of_buffer_(plan.buffers.size(), -1) {
  for (const DeviceId& id : plan.devices) devices_.push_back(&devices.device(id));
  keep_constants();
}

void BoundPlan::keep_constants() {
  constants_.resize(plan_.constants.size());
  for (const PlannedTensor& tensor : plan_.tensors) {
    if (tensor.home != Home::constant && tensor.home != Home::kept) continue;
    Buffer& buffer = constants_[static_cast<std::size_t>(tensor.index)];
    if (buffer.data() != nullptr) continue;
    buffer = device(tensor.device).memory().allocate(tensor.type.bytes(), tensor.label);
    const HostTensor& value = plan_.constants[static_cast<std::size_t>(tensor.index)];
    if (!value.empty()) device(tensor.device).stream().copy(buffer.data(), value.data(), value.bytes());
  }
}

std::size_t BoundPlan::add_port(std::size_t buffer) {
  port_of_buffer_[buffer] = static_cast<int>(ports_.size());
  ports_.emplace_back();
  return ports_.size() - 1;
}

int BoundPlan::port_of(const PlannedTensor& tensor) const {
  if (tensor.home == Home::input) return tensor.index;
  return tensor.home == Home::arena ? port_of_buffer_[static_cast<std::size_t>(tensor.index)] : -1;
}

std::byte* BoundPlan::address(const PlannedTensor& tensor) const {
  const auto at = static_cast<std::size_t>(tensor.index);
  if (const int port = port_of(tensor); port >= 0) {
    std::byte* const memory = pointed(static_cast<std::size_t>(port));
    return memory == nullptr ? nullptr : memory + tensor.offset;
  }
  switch (tensor.home) {
    case Home::variable:
      return variables_->view(*plan_.variables[at]).data + tensor.offset;
    case Home::constant:
    case Home::kept:
      return constants_[at].data() + tensor.offset;
    case Home::host:
      return memory_.host_arenas[tensor.device] + plan_.buffers[at].offset + tensor.offset;
    default:
      return memory_.arenas[tensor.device] + plan_.buffers[at].offset + tensor.offset;
  }
}

TensorView BoundPlan::view(int tensor) const {
  const PlannedTensor& planned = plan_.tensors[static_cast<std::size_t>(tensor)];
  return {&planned.type, address(planned)};
}

void BoundPlan::add_view(int tensor) {
  const PlannedTensor& planned = plan_.tensors[static_cast<std::size_t>(tensor)];
  if (const int port = port_of(planned); port >= 0) {
    ports_[static_cast<std::size_t>(port)].readers.push_back({views_.size(), planned.offset});
  }
  views_.push_back(view(tensor));
}

void BoundPlan::bind(const Memory& memory) {
  memory_ = memory;
  std::size_t count = 0;
  for (const PlannedStep& step : plan_.steps) count += step.inputs.size() + step.outputs.size();
  views_.clear();
  views_.reserve(count);
  steps_.clear();
  for (Port& port : ports_) port.readers.clear();
  for (const PlannedStep& step : plan_.steps) {
    const std::size_t first = views_.size();
    for (const int tensor : step.inputs) add_view(tensor);
    for (const int tensor : step.outputs) add_view(tensor);
    BoundStep bound{.inputs = {views_.data() + first, step.inputs.size()},
                    .outputs = {views_.data() + first + step.inputs.size(), step.outputs.size()},
                    .workspace = {}};
    if (step.workspace >= 0) {
      const PlannedBuffer& buffer = plan_.buffers[static_cast<std::size_t>(step.workspace)];
      bound.workspace = {memory_.arenas[step.device] + buffer.offset, step.workspace_bytes};
    }
    steps_.push_back(bound);
  }
}

void BoundPlan::point(std::size_t port, std::byte* memory) {
  Port& moved = ports_[port];
  if (moved.memory == memory) return;
  moved.memory = memory;
  for (const auto& [view, offset] : moved.readers) views_[view].data = memory + offset;
}

}  // namespace gpubench
