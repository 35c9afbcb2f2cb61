#include "core/exec/step_fence.h"

namespace gpubench {

StepFence::StepFence(Runtime& runtime) {
  for (const DeviceId& id : runtime.devices().ids()) {
    Device& device = runtime.devices().device(id);
    if (device.shares_host_memory()) continue;
    ends_.push_back({&device, {device.new_event(), device.new_event()}});
    for (const auto& event : ends_.back().events) device.stream().record(*event);
  }
}

void StepFence::end_step() {
  turn_ = (turn_ + 1) % steps_in_flight;
  for (End& end : ends_) {
    end.events[turn_]->wait();
    end.device->stream().record(*end.events[turn_]);
  }
}

}  // namespace gpubench
