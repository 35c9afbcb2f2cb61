#include "core/exec/in_place_program.h"

#include <algorithm>
#include <cassert>

#include "core/base/error.h"

namespace gpubench {

InPlaceProgram::InPlaceProgram(const Devices& devices, Program program, const DeviceId& device)
    : plan_(make_plan(apply_passes(std::move(program), {}), devices)) {
  assert(plan_.variables.empty() && plan_.devices.size() <= 1);
  inputs_.resize(plan_.inputs.size());
  outputs_.resize(plan_.outputs.size());
  device_ = &devices.device(plan_.devices.empty() ? device : plan_.devices.front());
  stream_ = &device_->stream();
  device_->bind_to_thread();
  if (!plan_.devices.empty()) arena_ = device_->memory().allocate(plan_.arena_bytes.front(), "arena");
  keep_constants();
  place_outputs();
  bind(true);
  launch();
  stream_->synchronize();  // views are bound anew
  bind(false);
}

InPlaceProgram::~InPlaceProgram() {
  try {
    stream_->synchronize();
  } catch (const DeviceError&) {
    return;  // a device that fails has nothing left to wait for
  }
}

const TensorType& InPlaceProgram::output_type(std::size_t index) const {
  return tensor(plan_.outputs[index]).type;
}

void InPlaceProgram::keep_constants() {
  constants_.resize(plan_.constants.size());
  for (const PlannedTensor& planned : plan_.tensors) {
    if (planned.home != Home::constant) continue;
    Buffer& buffer = constants_[static_cast<std::size_t>(planned.index)];
    if (buffer.data() != nullptr) continue;
    buffer = device_->memory().allocate(planned.type.bytes(), planned.label);
    const HostTensor& value = plan_.constants[static_cast<std::size_t>(planned.index)];
    if (!value.empty()) stream_->copy(buffer.data(), value.data(), value.bytes());
  }
}

/// A buffer that an output fills becomes the caller's memory, and with it every tensor that the plan put there before
/// it: they are computed where the output will stand.
void InPlaceProgram::place_outputs() {
  output_of_buffer_.assign(plan_.buffers.size(), -1);
  for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
    const PlannedTensor& planned = tensor(plan_.outputs[i]);
    if (planned.home == Home::arena) {
      const auto buffer = static_cast<std::size_t>(planned.index);
      const bool fills = planned.type.bytes() == plan_.buffers[buffer].lifetime.bytes;
      if (fills && output_of_buffer_[buffer] < 0) {
        output_of_buffer_[buffer] = static_cast<int>(i);
        continue;
      }
    }
    copies_.push_back({i, plan_.outputs[i]});
  }
}

std::byte* InPlaceProgram::address(int index) const {
  const PlannedTensor& planned = tensor(index);
  const auto at = static_cast<std::size_t>(planned.index);
  if (planned.home == Home::input) return inputs_[at].bound;
  if (planned.home == Home::constant) return constants_[at].data();
  const int output = output_of_buffer_[at];
  return output >= 0 ? outputs_[static_cast<std::size_t>(output)].bound : arena_.data() + plan_.buffers[at].offset;
}

void InPlaceProgram::bind(bool once) {
  launches_.clear();
  views_.clear();
  std::size_t count = 0;
  for (const PlannedStep& step : plan_.steps) count += step.inputs.size() + step.outputs.size();
  views_.reserve(count);  // the launches hold spans into it
  const auto view = [&](int index) {
    const PlannedTensor& planned = tensor(index);
    const auto at = static_cast<std::size_t>(planned.index);
    assert(planned.offset == 0 && "a function of elements takes no parts of batches");
    if (planned.home == Home::input) inputs_[at].views.push_back(views_.size());
    if (planned.home == Home::arena && output_of_buffer_[at] >= 0) {
      outputs_[static_cast<std::size_t>(output_of_buffer_[at])].views.push_back(views_.size());
    }
    views_.push_back({&planned.type, address(index)});
  };
  for (const PlannedStep& step : plan_.steps) {
    if ((step.due == Due::once) != once) continue;
    const std::size_t first = views_.size();
    std::ranges::for_each(step.inputs, view);
    std::ranges::for_each(step.outputs, view);
    Launch launch{step.kernel.get(),
                  {views_.data() + first, step.inputs.size()},
                  {views_.data() + first + step.inputs.size(), step.outputs.size()},
                  {}};
    if (step.workspace >= 0) {
      const PlannedBuffer& buffer = plan_.buffers[static_cast<std::size_t>(step.workspace)];
      launch.workspace = {arena_.data() + buffer.offset, step.workspace_bytes};
    }
    launches_.push_back(launch);
  }
}

void InPlaceProgram::point(Port& port, std::byte* memory) {
  if (port.bound == memory) return;
  port.bound = memory;
  for (const std::size_t view : port.views) views_[view].data = memory;
}

void InPlaceProgram::launch() {
  if (!launches_.empty()) device_->bind_to_thread();
  for (const Launch& launch : launches_) {
    launch.kernel->run(*stream_, launch.inputs, launch.outputs, launch.workspace);
  }
}

void InPlaceProgram::run(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs) {
  assert(inputs.size() >= inputs_.size() && outputs.size() == outputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) point(inputs_[i], inputs[i]);
  for (std::size_t i = 0; i < outputs_.size(); ++i) point(outputs_[i], outputs[i]);
  launch();
  for (const Copy& copy : copies_) {
    stream_->copy(outputs[copy.output], address(copy.tensor), tensor(copy.tensor).type.bytes());
  }
}

}  // namespace gpubench
