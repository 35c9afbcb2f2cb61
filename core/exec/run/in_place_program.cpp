#include "core/exec/run/in_place_program.h"

#include <cassert>
#include <utility>

#include "core/base/error.h"

namespace gpubench {
namespace {

Device& bound_to_thread(Device& device) {
  device.bind_to_thread();
  return device;
}

}  // namespace

InPlaceProgram::InPlaceProgram(const Devices& devices, Program program, const DeviceId& device)
    : plan_(make_plan(apply_passes(std::move(program), {}), devices)),
      device_(bound_to_thread(devices.device(plan_.devices.empty() ? device : plan_.devices.front()))),
      stream_(device_.stream()),
      bound_(plan_, devices, nullptr) {
  assert(plan_.variables.empty() && plan_.devices.size() <= 1);
  if (!plan_.devices.empty()) arena_ = device_.memory().allocate(plan_.arena_bytes.front(), "arena");
  place_outputs();
  bound_.bind({.arenas = {arena_.data()}, .host_arenas = {nullptr}});
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    const KernelLaunch launch{plan_.steps[s].kernel.get(), bound_.step(s)};
    if (plan_.steps[s].due == Due::once) {
      launch.queue(stream_);
    } else {
      launches_.push_back(launch);
    }
  }
  stream_.synchronize();
}

InPlaceProgram::~InPlaceProgram() {
  try {
    stream_.synchronize();
  } catch (const DeviceError&) {
    return;  // a device that has failed cannot be waited for
  }
}

const TensorType& InPlaceProgram::output_type(std::size_t index) const {
  return plan_.tensors[static_cast<std::size_t>(plan_.outputs[index])].type;
}

/// The buffer of an output becomes the caller's memory, together with all earlier tensors in it: they are computed in
/// the output's memory.
void InPlaceProgram::place_outputs() {
  std::vector<bool> placed(plan_.buffers.size(), false);
  for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
    const PlannedTensor& planned = plan_.tensors[static_cast<std::size_t>(plan_.outputs[i])];
    const auto buffer = static_cast<std::size_t>(planned.index);
    const bool fills =
        planned.home == Home::arena && !placed[buffer] && planned.type.bytes() == plan_.buffers[buffer].lifetime.bytes;
    if (fills) {
      placed[buffer] = true;
      placed_.push_back({.output = i, .port = bound_.add_port(buffer)});
    } else {
      copied_.push_back({.output = i, .tensor = plan_.outputs[i]});
    }
  }
}

void InPlaceProgram::run(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs) {
  assert(inputs.size() >= plan_.inputs.size() && outputs.size() == plan_.outputs.size());
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) bound_.point(i, inputs[i]);
  for (const auto& [output, port] : placed_) bound_.point(port, outputs[output]);
  if (!launches_.empty()) device_.bind_to_thread();
  for (const KernelLaunch& launch : launches_) launch.queue(stream_);
  for (const auto& [output, tensor] : copied_) {
    const TensorView view = bound_.view(tensor);
    stream_.copy(outputs[output], view.data, view.type->bytes());
  }
}

}  // namespace gpubench
